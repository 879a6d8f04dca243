/** A turn that the server's end cut off: go on, or let it be. */

import * as React from 'react';

import { Button, ErrorNote } from './parts';
import { useAction, useHost, usePlace, useTrans } from './use';

export function InterruptedCard(): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const { busy, error, run } = useAction();
  return (
    <section
      className="shoulders-Card shoulders-Interrupted"
      aria-label={trans.__('Interrupted')}
    >
      <header className="shoulders-Card-head">
        <Icon name="info" />
        <span>{trans.__('The server stopped before this was finished.')}</span>
      </header>
      <div className="shoulders-Actions">
        <Button
          kind="primary"
          disabled={busy}
          onClick={() =>
            run(() =>
              conversations.commands.resume(tab, { decision: 'resume' })
            )
          }
        >
          {trans.__('Resume')}
        </Button>
        <Button
          disabled={busy}
          onClick={() =>
            run(() =>
              conversations.commands.resume(tab, { decision: 'discard' })
            )
          }
        >
          {trans.__('Discard')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </section>
  );
}
