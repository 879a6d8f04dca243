/** A turn that the server's end cut off: go on, or let it be. */

import * as React from 'react';

import { Button, ErrorNote } from '../../ui/primitives';
import {
  useAction,
  useRestoreFocus,
  useHost,
  useTabContext,
  useTrans
} from '../../ui/hooks';

export function InterruptedCard(): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { busy, error, run } = useAction();
  const say = (decision: 'resume' | 'discard'): void => {
    // A disabled button would lose the focus, so a second click is passed over instead.
    if (!busy) {
      run(() => conversations.commands.resume(tab, { decision }));
    }
  };
  return (
    <section
      className="shoulders-Card shoulders-Interrupted"
      aria-label={trans.__('Interrupted')}
      ref={useRestoreFocus<HTMLElement>()}
    >
      <header className="shoulders-Card-head">
        <Icon name="info" />
        <span>{trans.__('The server stopped before this was finished.')}</span>
      </header>
      <div className="shoulders-Actions">
        <Button kind="primary" onClick={() => say('resume')}>
          {trans.__('Resume')}
        </Button>
        <Button onClick={() => say('discard')}>{trans.__('Discard')}</Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </section>
  );
}
