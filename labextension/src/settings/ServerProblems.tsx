/** What is wrong with the server as a whole, above every part of the settings. */

import * as React from 'react';

import { ErrorNote } from '../ui/primitives';
import { useResource, useStore } from './components/hooks';

export function StatusNotes(): React.JSX.Element | null {
  const { value } = useResource(useStore().status);
  const errors = [
    value?.state_directory_error,
    value?.usage_error,
    ...(value?.package_errors ?? [])
  ].filter(error => error !== null && error !== undefined);
  return errors.length === 0 ? null : (
    <>
      {errors.map(error => (
        <ErrorNote key={error.message} error={error} />
      ))}
    </>
  );
}
