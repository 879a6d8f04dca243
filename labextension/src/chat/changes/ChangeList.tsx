/** The changes of a turn, at its end: cells and files to keep, undo or open. Shown by `TurnEnd`. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  decidable,
  extentOf,
  groupsOf,
  updatePositions,
  rowsOf,
  type IChangeGroup,
  type IChangeRow,
  type CellPositions
} from '../../model/view-models/changeRows';
import { visible } from '../../text/hiddenCharacters';
import type { ChangeView, PendingEdit } from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  useAction,
  useHost,
  usePendingEdits,
  useTabContext,
  useSignal,
  useTrans
} from '../../ui/hooks';
import { ChangeRow, FileName } from './ChangeRow';

const NO_CHANGES: readonly ChangeView[] = [];

export function ChangeList(props: {
  turn: string | null;
}): React.JSX.Element | null {
  const rows = useRows(props.turn);
  const waits = decidable(rows).length > 0;
  const [chosen, setOpen] = React.useState<boolean | null>(null);
  // An open list stays open after the last decision.
  const [waited, setWaited] = React.useState(waits);
  if (waits && !waited) {
    setWaited(true);
  }
  const open = chosen ?? waited;
  const list = React.useRef<HTMLElement>(null);
  const toNext = React.useCallback((): void => {
    const { current } = list;
    (
      current?.querySelector<HTMLElement>('.shoulders-ChangeRow-decide') ??
      current?.querySelector<HTMLElement>('.shoulders-Disclosure')
    )?.focus();
  }, []);
  const trans = useTrans();
  return rows.length === 0 ? null : (
    <section
      className="shoulders-Changes"
      aria-label={trans.__('Changes of this turn')}
      ref={list}
    >
      <Head rows={rows} open={open} onToggle={() => setOpen(!open)} />
      {open &&
        groupsOf(rows).map(group => (
          <Group key={group.document} group={group} onGone={toNext} />
        ))}
    </section>
  );
}

function useRows(turn: string | null): readonly IChangeRow[] {
  const { conversations, tab } = useTabContext();
  const store = conversations.store(tab);
  const changes = useSignal(
    store?.changed ?? null,
    () => store?.view.changes ?? NO_CHANGES
  );
  const edits = usePendingEdits();
  const places = useCellPositions(edits);
  return React.useMemo(
    () => rowsOf(changes, turn, edits, places),
    [changes, turn, edits, places]
  );
}

/** Last known cell positions; decided edits no longer report them. */
function useCellPositions(edits: readonly PendingEdit[]): CellPositions {
  const [known, setKnown] = React.useState({
    edits,
    places: updatePositions(new Map(), edits)
  });
  if (known.edits !== edits) {
    setKnown({ edits, places: updatePositions(known.places, edits) });
  }
  return known.places;
}

/** The number of changes, and the decision on all. */
function Head(props: {
  rows: readonly IChangeRow[];
  open: boolean;
  onToggle: () => void;
}): React.JSX.Element {
  const { Icon, review } = useHost();
  const trans = useTrans();
  const { error, runOnce } = useAction();
  const { rows, open } = props;
  const edits = decidable(rows);
  const changes = useChangeCount(edits);
  const keepAll = (): void => {
    if (review !== null) {
      runOnce(() => review.decide(edits, 'keep'));
    }
  };
  return (
    <>
      <div className="shoulders-Changes-head">
        <button
          type="button"
          className="shoulders-Disclosure"
          aria-expanded={open}
          onClick={props.onToggle}
        >
          <Icon name={open ? 'caret-down' : 'caret-right'} />
          <span className="shoulders-Changes-count">
            {changes > 0
              ? trans._n('%1 change', '%1 changes', changes)
              : trans.__('Changed: %1', extentText(rows, trans))}
          </span>
        </button>
        {edits.length > 1 && (
          <Button onClick={keepAll}>{trans.__('Keep all')}</Button>
        )}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** The number of pending changes, counted like the controls in documents. */
function useChangeCount(edits: readonly PendingEdit[]): number {
  const { review } = useHost();
  return useSignal(review?.changed ?? null, () =>
    edits.reduce((sum, edit) => sum + (review?.countOf(edit) ?? 1), 0)
  );
}

function extentText(
  rows: readonly IChangeRow[],
  trans: TranslationBundle
): string {
  const { cells, files } = extentOf(rows);
  return [
    cells === 0 ? '' : trans._n('%1 cell', '%1 cells', cells),
    files === 0 ? '' : trans._n('%1 file', '%1 files', files)
  ]
    .filter(part => part !== '')
    .join(', ');
}

/** A notebook with its cells; a file is a single row. */
function Group(props: {
  group: IChangeGroup;
  onGone: () => void;
}): React.JSX.Element {
  const { document, isNotebook, rows } = props.group;
  return (
    <>
      {isNotebook && (
        <div className="shoulders-Changes-document">
          <FileName path={document} />
        </div>
      )}
      <ul
        className={`shoulders-Changes-rows ${isNotebook ? 'shoulders-mod-cells' : ''}`}
        aria-label={visible(document)}
      >
        {rows.map(row => (
          <ChangeRow key={row.key} row={row} onFocusLost={props.onGone} />
        ))}
      </ul>
    </>
  );
}
