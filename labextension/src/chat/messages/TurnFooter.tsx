/** Below a turn: undo its changes, or after an answer of the demo, connect a model. Shown by `AgentMessage`. */

import * as React from 'react';

import { serverToolOf } from '../../model/view-models/toolOwners';
import type { AgentView, PartView } from '../../wire/generated';
import { BranchesContext } from './branches';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  useAction,
  useRestoreFocus,
  useHost,
  useIsDemo,
  useTabContext,
  useSignal,
  useTrans
} from '../../ui/hooks';

export const TurnFooter = React.memo(function TurnFooter(props: {
  message: AgentView;
  last: boolean;
}): React.JSX.Element | null {
  const { message, last } = props;
  const listed = useListed(message.turn_id);
  const isDemo = useIsDemo();
  // An earlier version of the conversation is read-only.
  const { earlierVersion } = React.useContext(BranchesContext);
  if (earlierVersion !== null || message.turn_id === null) {
    return null;
  }
  if (canBeUndone(message, listed)) {
    return <UndoTurn turn={message.turn_id} />;
  }
  return last && isDemo && isAnswerOnly(message) ? <ConnectModel /> : null;
});

function ConnectModel(): React.JSX.Element | null {
  const trans = useTrans();
  const { openSettings } = useHost();
  return openSettings === null ? null : (
    <div className="shoulders-TurnFooter">
      <Button onClick={() => void openSettings('providers')}>
        {trans.__('Connect a model')}
      </Button>
    </div>
  );
}

/** Whether a finished turn made no calls. */
function isAnswerOnly({ parts }: AgentView): boolean {
  return (
    parts.some(({ type }) => type === 'end') &&
    parts.every(({ type }) => type !== 'call')
  );
}

function UndoTurn({ turn }: { turn: string }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, runOnce } = useAction();
  const undo = (): void =>
    runOnce(() => conversations.commands.undoTurn(tab, turn));
  return (
    <div
      className="shoulders-TurnFooter"
      ref={useRestoreFocus<HTMLDivElement>()}
    >
      <Button onClick={undo}>{trans.__('Undo this turn')}</Button>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

/** Whether the change list has entries of a turn; a message sent during the turn separates its end from its changes. */
function useListed(turn: string | null): boolean {
  const { conversations, tab } = useTabContext();
  const store = conversations.store(tab);
  return useSignal(
    store?.changed ?? null,
    () => store?.view.changes.some(({ turn_id }) => turn_id === turn) ?? false
  );
}

/** Whether a finished turn changed something and was not undone. */
export function canBeUndone(
  { turn_id, parts }: AgentView,
  listed = false
): boolean {
  const restores = parts.filter(part => part.type === 'restore');
  const last = restores.at(-1)?.undone_turn ?? null;
  const isUndone = last !== null && last === turn_id;
  const isOver = parts.some(part => part.type === 'end');
  return isOver && (listed || parts.some(isChange)) && !isUndone;
}

/** Whether a call changed something of ours; what it did at a server cannot be undone. */
function isChange(part: PartView): boolean {
  return (
    part.type === 'call' &&
    part.risk !== 'read' &&
    part.state === 'ok' &&
    serverToolOf(part.tool) === null
  );
}
