/** Results of actions on whole conversations: a deletion, which can be undone, and errors. */

import * as React from 'react';

import type { IDeletedConversation } from '../model/sessions/panelState';
import { titleOf } from './sessions/panelActions';
import { Button, ErrorNote, IconButton } from '../ui/primitives';
import { focusComposer, useTrans } from '../ui/hooks';
import { useActions, usePanelState } from './sessions/usePanelActions';

export function Notices(): React.JSX.Element | null {
  const trans = useTrans();
  const { view } = useActions();
  const { removed, error } = usePanelState();
  return (
    <>
      {removed !== null && (
        <Removed key={removed.session.id} removed={removed} />
      )}
      {error !== null && (
        <div className="shoulders-Notice">
          <ErrorNote error={error} />
          <IconButton
            icon="close"
            label={trans.__('Dismiss')}
            onClick={() => {
              view.change({ error: null });
              focusComposer();
            }}
          />
        </div>
      )}
    </>
  );
}

function Removed({
  removed
}: {
  removed: IDeletedConversation;
}): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const ref = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    // The focused element is gone; focus the next step.
    ref.current?.querySelector('button')?.focus();
  }, []);
  return (
    <div className="shoulders-Notice" role="status" ref={ref}>
      <span className="shoulders-Notice-text">
        {trans.__('Deleted “%1”.', titleOf(removed.session, trans))}
      </span>
      <Button onClick={() => void actions.bringBack().then(focusComposer)}>
        {trans.__('Undo')}
      </Button>
      <IconButton
        icon="close"
        label={trans.__('Dismiss')}
        onClick={() => {
          actions.view.change({ removed: null });
          focusComposer();
        }}
      />
    </div>
  );
}
