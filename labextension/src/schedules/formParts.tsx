/** What the parts of the form share. */

import * as React from 'react';

import { InvalidNote } from '../settings/components/fields';
import type { IScheduleForm } from './formState';

/** A field's change, and the error that the server found in it. */
export interface IFormState {
  readonly form: IScheduleForm;
  readonly change: (part: Partial<IScheduleForm>) => void;
  readonly problemOf: (field: keyof IScheduleForm) => string | null;
}

/** Why a field is wrong, below it. */
export function Problem(props: {
  text: string | null;
}): React.JSX.Element | null {
  return props.text === null ? null : <InvalidNote>{props.text}</InvalidNote>;
}
