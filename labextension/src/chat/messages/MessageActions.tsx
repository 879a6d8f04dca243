/** Actions on messages: copy, edit, fork, restore. Shown on hover or focus. */

import * as React from 'react';

import { isRunning } from '../../model/view-models/conversationItems';
import { withoutHidden } from '../../text/hiddenCharacters';
import type { AgentView, UserView } from '../../wire/generated';
import { BranchesContext, useFork } from './branches';
import { ErrorNote } from '../../ui/primitives';
import { RestoreForm } from './RestoreForm';
import { Toolbar, useDone, type IToolbarAction } from '../../ui/Toolbar';
import {
  useHost,
  useLeadingClient,
  useTabContext,
  useSignal,
  useTrans
} from '../../ui/hooks';

/** For the user's messages. */
export function MessageActions(props: {
  message: UserView;
  onEdit: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { message, onEdit } = props;
  const [asking, setAsking] = React.useState(false);
  const ref = React.useRef<HTMLDivElement>(null);
  const { earlierVersion } = React.useContext(BranchesContext);
  const running = useRunning();
  const copy = useCopy(message.text);
  const { act: fork, error } = useForkBefore(message);
  const isOurs = useLeadingClient() === null; // Only our agent answers again.
  const edit: IToolbarAction = {
    icon: 'pencil',
    label: running
      ? trans.__('Stop the agent to edit this message')
      : trans.__('Edit and resend'),
    disabled: running,
    act: onEdit
  };
  const restore: IToolbarAction = {
    icon: 'history',
    label: trans.__('Restore to before this message…'),
    act: () => setAsking(true)
  };
  const now = isOurs ? [edit, restore] : [restore];
  const close = (): void => {
    setAsking(false);
    ref.current?.querySelector('button')?.focus();
  };
  return (
    <>
      <div className="shoulders-User-actions" ref={ref}>
        <Toolbar
          label={trans.__('Message actions')}
          acts={[
            copy,
            ...(earlierVersion === null ? now : []),
            ...(isOurs ? [fork] : [])
          ]}
        />
      </div>
      {error}
      {asking && <RestoreForm point={message} onClose={close} />}
    </>
  );
}

/** For the agent's messages. */
export function AnswerActions(props: {
  message: AgentView;
  text: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { endOf } = React.useContext(BranchesContext);
  const { message, text } = props;
  const { text: seen, hidden } = React.useMemo(
    () => withoutHidden(text),
    [text]
  );
  const copy = useCopy(seen, hidden);
  const { busy, error, fork } = useFork();
  const ended = message.parts.some(({ type }) => type === 'end');
  const isOurs = useLeadingClient() === null;
  const continued: IToolbarAction = {
    icon: 'fork',
    label: trans.__('Continue from here in a new conversation'),
    disabled: busy || !ended,
    act: () => fork(endOf(message.seq))
  };
  const acts = [...(text === '' ? [] : [copy]), ...(isOurs ? [continued] : [])];
  return (
    <>
      <div className="shoulders-Agent-actions">
        <Toolbar label={trans.__('Message actions')} acts={acts} />
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

function useCopy(text: string, hidden = 0): IToolbarAction {
  const trans = useTrans();
  const copied =
    hidden === 0
      ? trans.__('Copied')
      : trans._n(
          'Copied without %1 hidden character',
          'Copied without %1 hidden characters',
          hidden
        );
  const { copy } = useHost();
  const { done, confirm } = useDone<'copied'>();
  return {
    icon: done === null ? 'copy' : 'check',
    label: done === null ? trans.__('Copy message') : copied,
    act: () => {
      copy(text);
      confirm('copied');
    }
  };
}

/** Forks before a message and puts the message into the input. */
function useForkBefore({ seq, text }: UserView): {
  act: IToolbarAction;
  error: React.ReactNode;
} {
  const trans = useTrans();
  const { startOf } = React.useContext(BranchesContext);
  const { busy, error, fork } = useFork();
  return {
    act: {
      icon: 'fork',
      label: trans.__('Continue from here in a new conversation'),
      disabled: busy,
      act: () => fork(startOf(seq), text)
    },
    error: error === null ? null : <ErrorNote error={error} />
  };
}

/** Whether a turn is running, during which messages cannot be restored. */
function useRunning(): boolean {
  const { conversations, tab } = useTabContext();
  const store = conversations.store(tab);
  return useSignal(
    store?.changed ?? null,
    () => store !== null && isRunning(store.view)
  );
}
