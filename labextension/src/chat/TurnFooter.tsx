/** Below a turn that changed something: the way to take all of it back. Shown by `AgentMessage`. */

import * as React from 'react';

import type { AgentView, PartView } from '../wire/generated';
import { BranchesContext } from './branches';
import { Button, ErrorNote } from './parts';
import { useAction, useFocusKept, usePlace, useSignal, useTrans } from './use';

export const TurnFooter = React.memo(function TurnFooter(props: {
  message: AgentView;
}): React.JSX.Element | null {
  const { turn_id } = props.message;
  const listed = useListed(turn_id);
  // An earlier version of the conversation is only read.
  const { past } = React.useContext(BranchesContext);
  const can = past === null && canBeUndone(props.message, listed);
  return turn_id === null || !can ? null : <UndoTurn turn={turn_id} />;
});

function UndoTurn({ turn }: { turn: string }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const { busy, error, run } = useAction();
  // A disabled button would lose the focus, so a second click is passed over instead.
  const undo = (): void => {
    if (!busy) {
      run(() => conversations.commands.undoTurn(tab, turn));
    }
  };
  return (
    <div className="shoulders-TurnFooter" ref={useFocusKept<HTMLDivElement>()}>
      <Button onClick={undo}>{trans.__('Undo this turn')}</Button>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

/** Whether the list of changes has any of a turn: a message sent meanwhile parts its end from what it did. */
function useListed(turn: string | null): boolean {
  const { conversations, tab } = usePlace();
  const store = conversations.store(tab);
  return useSignal(
    store?.changed ?? null,
    () => store?.view.changes.some(({ turn_id }) => turn_id === turn) ?? false
  );
}

/** Whether a turn is over, changed something, and was not taken back. */
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

function isChange(part: PartView): boolean {
  return part.type === 'call' && part.risk !== 'read' && part.state === 'ok';
}
