/** Below a turn that changed something: the way to take all of it back. Shown by `AgentMessage`. */

import * as React from 'react';

import type { AgentView, PartView } from '../wire/generated';
import { Button, ErrorNote } from './parts';
import { useAction, usePlace, useTrans } from './use';

export const TurnFooter = React.memo(function TurnFooter(props: {
  message: AgentView;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const { busy, error, run } = useAction();
  const { turn_id } = props.message;
  if (turn_id === null || !canBeUndone(props.message)) {
    return null;
  }
  return (
    <div className="shoulders-TurnFooter">
      <Button
        disabled={busy}
        onClick={() => run(() => conversations.commands.undoTurn(tab, turn_id))}
      >
        {trans.__('Undo this turn')}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
});

/** Whether a turn is over, changed something, and was not taken back. */
export function canBeUndone({ turn_id, parts }: AgentView): boolean {
  const restores = parts.filter(part => part.type === 'restore');
  const last = restores.at(-1)?.undone_turn ?? null;
  const isUndone = last !== null && last === turn_id;
  const isOver = parts.some(part => part.type === 'end');
  return isOver && parts.some(isChange) && !isUndone;
}

function isChange(part: PartView): boolean {
  return part.type === 'call' && part.risk !== 'read' && part.state === 'ok';
}
