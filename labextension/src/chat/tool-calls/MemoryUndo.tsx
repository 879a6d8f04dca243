/** The button that takes back what a call changed in the memory. Used by `CallRow`. */

import * as React from 'react';

import {
  memoryTitle,
  type IMemoryLine
} from '../../model/view-models/memoryChanges';
import { visible } from '../../text/hiddenCharacters';
import { useAction, useHost, useTrans } from '../../ui/hooks';
import { Button } from '../../ui/primitives';

export function MemoryUndo({
  change
}: {
  change: IMemoryLine;
}): React.JSX.Element {
  const trans = useTrans();
  const { lookups } = useHost();
  const { busy, error, run } = useAction();
  const [isUndone, setUndone] = React.useState(false);
  if (isUndone) {
    return (
      <span className="shoulders-Call-note" role="status">
        {trans.__('undone')}
      </span>
    );
  }
  return (
    <>
      {error !== null && (
        <span className="shoulders-Call-note" role="alert">
          {visible(error.message)}
        </span>
      )}
      <Button
        className="shoulders-Memory-undo"
        label={trans.__('Undo: %1', visible(memoryTitle(change, trans)))}
        disabled={busy}
        onClick={() =>
          run(async () => {
            await lookups.undoOperation(change.operation);
            setUndone(true);
          })
        }
      >
        {trans.__('Undo')}
      </Button>
    </>
  );
}
