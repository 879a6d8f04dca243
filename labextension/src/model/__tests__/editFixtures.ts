/** A change of a turn and its pending edit, shared by specs. */

import type { ChangeView, PendingEdit } from '../../wire/generated';

/** Return a change of the first cell of `a.ipynb` in the turn `t1`. */
export function change(
  edit: string | null,
  more: Partial<ChangeView> = {}
): ChangeView {
  return {
    turn_id: 't1',
    edit_id: edit,
    document: 'a.ipynb',
    cell_id: 'c1',
    what: 'edited',
    title: 'x = 2',
    origin: null,
    state: edit === null ? 'done' : 'pending',
    by: null,
    ...more
  };
}

/** Return the pending edit that replaced `x = 1` by `x = 2` in that cell. */
export function pendingEdit(
  id: string,
  more: Partial<PendingEdit> = {}
): PendingEdit {
  return {
    id,
    session_id: 's1',
    turn_id: 't1',
    document: 'a.ipynb',
    cell_id: 'c1',
    cell_type: 'code',
    position: 0,
    baseline: 'x = 1',
    baseline_version: 'v1',
    current: 'x = 2',
    current_version: 'v2',
    hunks: [{ before_from: 0, before_to: 1, after_from: 0, after_to: 1 }],
    conflict: false,
    kind: 'text',
    error: null,
    ...more
  };
}
