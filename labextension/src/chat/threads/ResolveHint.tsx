/** Suggests resolving a thread once its proposal was applied and kept. */

import * as React from 'react';

import { appliedIn } from '../../model/view-models/proposals';
import type { Conversation } from '../../wire/generated';
import { Button, IconButton } from '../../ui/primitives';
import {
  focusComposer,
  usePendingEdits,
  useTabContext,
  useTrans
} from '../../ui/hooks';
import { useActions } from '../sessions/usePanelActions';

/** Time for the list of pending edits to learn of an applied change, in ms. */
const STABLE_TIME = 1500;

export function ResolveHint(props: {
  view: Conversation;
}): React.JSX.Element | null {
  const trans = useTrans();
  const actions = useActions();
  const { conversations, tab } = useTabContext();
  const session = conversations.session(tab);
  const applied = useStableValue(appliedIn(props.view, usePendingEdits()));
  const [left, setLeft] = React.useState<string | null>(null);
  if (
    session?.kind !== 'task' ||
    session.status !== 'idle' ||
    applied === null ||
    applied === left
  ) {
    return null;
  }
  return (
    <div className="shoulders-ResolveHint" role="status">
      <span className="shoulders-ResolveHint-text">
        {trans.__('The change is kept. Is this thread done?')}
      </span>
      <Button
        onClick={() => {
          focusComposer();
          void actions.resolve(session, true);
        }}
      >
        {trans.__('Resolve')}
      </Button>
      <IconButton
        icon="close"
        label={trans.__('Not yet')}
        onClick={() => {
          setLeft(applied);
          focusComposer();
        }}
      />
    </div>
  );
}

/** A value once it has been stable for a while; null immediately. */
function useStableValue(value: string | null): string | null {
  const [rested, setRested] = React.useState(value);
  React.useEffect(() => {
    const timer = setTimeout(() => setRested(value), STABLE_TIME);
    return () => clearTimeout(timer);
  }, [value]);
  return value === rested ? value : null;
}
