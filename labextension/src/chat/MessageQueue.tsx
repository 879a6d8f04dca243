/**
 * Messages sent while a turn runs. The agent reads them at its next step; until then they can be edited. Those that a
 * stopped turn left are sent on request.
 */

import * as React from 'react';

import { appendToDraft } from '../model/conversations/draftText';
import { legible } from '../text/hiddenCharacters';
import type { QueuedView } from '../wire/generated';
import { Button, ErrorNote, IconButton } from '../ui/primitives';
import {
  useAction,
  useRestoreFocus,
  useTabContext,
  useTrans
} from '../ui/hooks';

export function MessageQueue(props: {
  queued: readonly QueuedView[];
  /** Whether no running turn will read them. */
  isQueueIdle: boolean;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { queued, isQueueIdle } = props;
  const [first] = queued;
  if (first === undefined) {
    return null;
  }
  return (
    <div className="shoulders-Queue">
      <ul aria-label={trans.__('Queued messages')}>
        {queued.map(message => (
          <Queued
            key={message.message_id}
            message={message}
            isIdle={isQueueIdle}
          />
        ))}
      </ul>
      {isQueueIdle && <SendNow first={first} count={queued.length} />}
    </div>
  );
}

/** Starts a turn with the messages that a turn left. */
function SendNow(props: {
  first: QueuedView;
  count: number;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, runOnce } = useAction();
  const item = useRestoreFocus<HTMLDivElement>();
  const send = (): void => {
    runOnce(() =>
      conversations.commands.sendQueued(tab, props.first.message_id)
    );
  };
  return (
    <div className="shoulders-Queue-send" ref={item}>
      <Button kind="primary" onClick={send}>
        {trans._n('Send now', 'Send all now', props.count)}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

function Queued(props: {
  message: QueuedView;
  isIdle: boolean;
}): React.JSX.Element {
  const { message, isIdle } = props;
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { busy, error, run } = useAction();
  const [editing, setEditing] = React.useState(false);
  const item = useRestoreFocus<HTMLLIElement>();
  const edit = React.useRef<HTMLSpanElement>(null);
  const { message_id: id, attachments } = message;
  const returns = React.useRef(false);
  React.useEffect(() => {
    if (!editing && returns.current) {
      returns.current = false;
      edit.current?.querySelector('button')?.focus();
    }
  }, [editing]);
  const back = (): void => {
    returns.current = true;
    setEditing(false);
  };
  // The agent read the message first: puts the edited text into the input.
  const handOver = (text: string): void => {
    const typed = conversations.draft(tab);
    conversations.suggest(tab, appendToDraft(typed, text));
  };
  const save = (text: string): void => {
    const changed = text.trim();
    if (changed !== '' && changed !== message.text) {
      run(() =>
        conversations.commands
          .editQueued(tab, id, changed)
          .catch((failure: unknown) => {
            handOver(changed);
            throw failure;
          })
      );
    }
    setEditing(false);
  };
  return (
    <li className="shoulders-Queue-item" ref={item}>
      <span className="shoulders-Queue-label">
        {isIdle ? trans.__('Not sent') : trans.__('Queued')}
      </span>
      {editing ? (
        <Field
          message={message}
          onSave={save}
          onBack={back}
          onCutOff={handOver}
        />
      ) : (
        <span className="shoulders-Queue-text">
          {legible(message.text)}
          {attachments.length > 0 && (
            <span className="shoulders-Queue-attached">
              {trans._n(
                '+%1 attachment',
                '+%1 attachments',
                attachments.length
              )}
            </span>
          )}
        </span>
      )}
      <span ref={edit}>
        <IconButton
          icon="pencil"
          label={trans.__('Edit')}
          disabled={busy}
          pressed={editing}
          onClick={() => setEditing(true)}
        />
      </span>
      <IconButton
        icon="close"
        label={trans.__('Remove')}
        disabled={busy}
        onClick={() => run(() => conversations.commands.removeQueued(tab, id))}
      />
      {error !== null && <ErrorNote error={error} />}
    </li>
  );
}

/** The field for editing a queued message. */
function Field(props: {
  message: QueuedView;
  onSave: (text: string) => void;
  onBack: () => void;
  /** Called when the message is gone while it is edited. */
  onCutOff: (text: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { message, onSave, onBack, onCutOff } = props;
  const [text, setText] = React.useState(message.text);
  const isOver = useUnsaved(text, message.text, onCutOff);
  const done = (act: () => void): void => {
    isOver();
    act();
  };
  return (
    <textarea
      className="shoulders-Input shoulders-Queue-field"
      // The user just opened this field.
      autoFocus
      rows={Math.min(6, text.split('\n').length)}
      value={text}
      aria-label={trans.__('Queued message')}
      onChange={event => setText(event.target.value)}
      onFocus={({ target }) =>
        target.setSelectionRange(text.length, text.length)
      }
      onBlur={() => done(() => onSave(text))}
      onKeyDown={event => {
        if (event.nativeEvent.isComposing) {
          return; // The keys belong to the input method.
        }
        if (event.key === 'Enter' && !event.shiftKey) {
          event.preventDefault();
          done(() => onSave(text));
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          done(onBack);
        }
      }}
    />
  );
}

/** Passes a changed text on when its field unmounts, unless editing ended before. */
function useUnsaved(
  text: string,
  before: string,
  handOver: (text: string) => void
): () => void {
  const latest = React.useRef({ text, before, handOver, isOver: false });
  React.useEffect(() => {
    Object.assign(latest.current, { text, before, handOver });
  }, [text, before, handOver]);
  React.useEffect(() => {
    const { current } = latest;
    return () => {
      if (!current.isOver && current.text.trim() !== current.before.trim()) {
        current.handOver(current.text);
      }
    };
  }, []);
  return () => {
    latest.current.isOver = true;
  };
}
