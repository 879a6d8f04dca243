/** What came of acts on whole conversations: one that was deleted, with the way back, and what failed. */

import * as React from 'react';

import type { IRemoved } from '../model/panel-view';
import { titleOf } from './actions';
import { Button, ErrorNote, IconButton } from './parts';
import { focusField, useTrans } from './use';
import { useActions, usePanelState } from './usePanel';

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
              focusField();
            }}
          />
        </div>
      )}
    </>
  );
}

function Removed({ removed }: { removed: IRemoved }): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const place = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    // What had the focus is gone: here is what comes next.
    place.current?.querySelector('button')?.focus();
  }, []);
  return (
    <div className="shoulders-Notice" role="status" ref={place}>
      <span className="shoulders-Notice-text">
        {trans.__('Deleted “%1”.', titleOf(removed.session, trans))}
      </span>
      <Button onClick={() => void actions.bringBack().then(focusField)}>
        {trans.__('Undo')}
      </Button>
      <IconButton
        icon="close"
        label={trans.__('Dismiss')}
        onClick={() => {
          actions.view.change({ removed: null });
          focusField();
        }}
      />
    </div>
  );
}
