/** Folds the changes of turns and the decisions about each cell and file. Used by the reducer only. */

import type {
  CellsChange,
  ChangeView,
  Conversation,
  EditPending,
  EditResolve,
  Json,
  ToolResult
} from '../../wire/generated';

type Kind = ChangeView['what'];

/** Cell operations that are not reviewed; only undoing the turn reverts them. */
const CELL_OPERATIONS: Record<string, Kind | undefined> = {
  moved: 'moved',
  outputs: 'cleared'
};

/** Tools whose changes are not text edits. */
const FILE_TOOLS: Record<string, Kind | undefined> = {
  rename_file: 'moved',
  move_file: 'moved',
  create_notebook: 'made'
};

/** Add a file that a call moved, or a notebook it created. */
export function withFile(state: Conversation, event: ToolResult): Conversation {
  const what = FILE_TOOLS[event.tool];
  const { data } = event.result;
  if (what === undefined || event.status !== 'ok' || !isObject(data)) {
    return state;
  }
  const { path, new_path } = data;
  if (event.turn_id === null || typeof path !== 'string') {
    return state;
  }
  const moved = typeof new_path === 'string';
  return withChange(state, {
    turn_id: event.turn_id,
    edit_id: null,
    document: moved ? new_path : path,
    cell_id: null,
    what: moved ? 'moved' : 'made',
    title: '',
    origin: moved ? path : null,
    state: 'done',
    by: null
  });
}

/** Mark the changes of an undone turn. */
export function markUndone(
  state: Conversation,
  turnId: string | null
): Conversation {
  return turnId === null
    ? state
    : changed(
        state,
        change => change.turn_id === turnId && change.edit_id === null,
        { state: 'undone', by: 'user' }
      );
}

/** Add or renew a pending edit. */
export function editPending(
  state: Conversation,
  event: EditPending
): Conversation {
  const again = changed(state, ({ edit_id }) => edit_id === event.edit_id, {
    state: 'pending',
    by: null
  });
  return event.turn_id === null
    ? again
    : withChange(again, {
        turn_id: event.turn_id,
        edit_id: event.edit_id,
        document: event.document,
        cell_id: event.cell_id,
        what: kindOf(event),
        title: event.title || '', // Logs of older servers have none.
        origin: null,
        state: 'pending',
        by: null
      });
}

/** Record a decision. After a partial one the server sends the rest as a new pending edit. */
export function editResolved(
  state: Conversation,
  event: EditResolve
): Conversation {
  return event.hunks !== null
    ? state
    : changed(state, ({ edit_id }) => edit_id === event.edit_id, {
        state: event.decision === 'keep' ? 'kept' : 'undone',
        by: event.by
      });
}

/** Add moved cells and cleared outputs. */
export function cellsChanged(
  state: Conversation,
  event: CellsChange
): Conversation {
  const { turn_id, restore_id, document, cells } = event;
  if (turn_id === null || (restore_id ?? null) !== null) {
    return state;
  }
  return cells.reduce((before, { cell_id, what, title }) => {
    const kind = CELL_OPERATIONS[what];
    return kind === undefined
      ? before
      : withChange(before, {
          turn_id,
          edit_id: null,
          document,
          cell_id,
          what: kind,
          title,
          origin: null,
          state: 'done',
          by: null
        });
  }, state);
}

function kindOf({ before_version, after_version }: EditPending): Kind {
  if (after_version === null) {
    return 'deleted';
  }
  return before_version === null ? 'made' : 'edited';
}

/** Change rows; returns the same list when nothing changes. */
function changed(
  state: Conversation,
  isMeant: (change: ChangeView) => boolean,
  to: Pick<ChangeView, 'state' | 'by'>
): Conversation {
  return state.changes.some(isMeant)
    ? {
        ...state,
        changes: state.changes.map(change =>
          isMeant(change) ? { ...change, ...to } : change
        )
      }
    : state;
}

/** Add a row, or replace the one it follows. */
function withChange(state: Conversation, change: ChangeView): Conversation {
  const key = keyOf(change);
  const at = state.changes.findIndex(before => keyOf(before) === key);
  const changes = [...state.changes];
  changes.splice(at < 0 ? changes.length : at, 1, change);
  return { ...state, changes };
}

function keyOf(change: ChangeView): string {
  const { turn_id, edit_id, document, cell_id, what } = change;
  return JSON.stringify(
    edit_id === null ? [turn_id, document, cell_id, what] : [turn_id, edit_id]
  );
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
