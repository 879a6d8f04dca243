/** Contains rendering errors. Wraps each part of a message. */

import * as React from 'react';

import { useTrans } from './hooks';

interface IGuardedState {
  error: Error | null;
}

/** Renders its children, or a remark if they fail. React logs the error. */
export class ErrorBoundary extends React.Component<
  React.PropsWithChildren,
  IGuardedState
> {
  static getDerivedStateFromError(error: Error): IGuardedState {
    return { error };
  }

  override readonly state: IGuardedState = { error: null };

  override render(): React.ReactNode {
    const { error } = this.state;
    return error === null ? (
      this.props.children
    ) : (
      <CannotBeShown error={error} />
    );
  }
}

function CannotBeShown({ error }: { error: Error }): React.JSX.Element {
  const trans = useTrans();
  return (
    <p className="shoulders-Card-remark" role="status">
      {trans.__(
        'This part could not be displayed (%1). Export the conversation to see it.',
        error.message
      )}
    </p>
  );
}
