/** Asks what to restore to before a message. Shown below the message. */

import * as React from 'react';

import type { RestoreSession } from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  focusComposer,
  useAction,
  useHost,
  useTabContext,
  useTrans
} from '../../ui/hooks';

type RestorePart = RestoreSession['what'][number];

/** The message to restore to. */
export interface IRestorePoint {
  readonly seq: number;
  readonly text: string;
}

export function RestoreForm(props: {
  point: IRestorePoint;
  onClose: () => void;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { busy, error, runOnce } = useAction();
  const title = React.useId();
  const [chosen, setChosen] = React.useState<ReadonlySet<RestorePart>>(
    () => new Set(CHOICES)
  );
  const ref = React.useRef<HTMLElement>(null);
  React.useEffect(() => {
    ref.current?.querySelector('input')?.focus();
    ref.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const { point } = props;
  const what = [...chosen];
  const restore = async (): Promise<void> => {
    await conversations.commands.restore(tab, {
      seq: point.seq,
      what: what as RestoreSession['what'], // Not empty, because the button is disabled then.
      id: null
    });
    if (chosen.has('conversation')) {
      const typed = conversations.draft(tab); // Keeps the user's draft.
      conversations.suggest(
        tab,
        typed ? `${point.text}\n${typed}` : point.text
      );
      focusComposer();
    }
    props.onClose();
  };
  const toggle = (part: RestorePart): void => {
    const next = new Set(chosen);
    if (!next.delete(part)) {
      next.add(part);
    }
    setChosen(next);
  };
  return (
    <section
      className="shoulders-Card shoulders-RestoreForm"
      role="dialog"
      aria-labelledby={title}
      ref={ref}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          event.preventDefault();
          props.onClose();
        }
      }}
    >
      <header className="shoulders-Card-head" id={title}>
        <Icon name="history" />
        <span className="shoulders-Call-title">
          {trans.__('Restore to before this message')}
        </span>
      </header>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (what.length > 0) {
            runOnce(restore);
          }
        }}
      >
        {CHOICES.map(part => (
          <label className="shoulders-RestoreForm-choice" key={part}>
            <input
              type="checkbox"
              checked={chosen.has(part)}
              onChange={() => toggle(part)}
            />
            <span>
              {label(part, trans)}
              <span className="shoulders-RestoreForm-note">
                {note(part, trans)}
              </span>
            </span>
          </label>
        ))}
        {error !== null && <ErrorNote error={error} />}
        <div className="shoulders-Actions">
          <button
            type="submit"
            className="shoulders-Button shoulders-mod-primary"
            disabled={busy || what.length === 0}
          >
            {trans.__('Restore')}
          </button>
          <Button onClick={props.onClose}>{trans.__('Cancel')}</Button>
        </div>
      </form>
    </section>
  );
}

const CHOICES: readonly RestorePart[] = ['notebook', 'files', 'conversation'];

type Trans = ReturnType<typeof useTrans>;

function label(part: RestorePart, trans: Trans): string {
  switch (part) {
    case 'notebook':
      return trans.__('Notebooks');
    case 'files':
      return trans.__('Files');
    case 'conversation':
      return trans.__('Conversation');
  }
}

function note(part: RestorePart, trans: Trans): string {
  switch (part) {
    case 'notebook':
      return trans.__(
        'Undoes the agent’s changes to cells since this message. Your own changes stay.'
      );
    case 'files':
      return trans.__(
        'Undoes the agent’s changes to other files since this message.'
      );
    case 'conversation':
      return trans.__(
        'Hides the conversation since this message and puts the message back into the input.'
      );
  }
}
