/**
 * Rules of edits to an open notebook: whether an edit may be applied, the needed text changes, and the inverse edit.
 * Pure; used by `OpenNotebook`.
 */

import fastDiff from 'fast-diff';

import type { CellConflict, CellEdit } from '../wire/generated';

/** A cell as the rules see it. */
export interface ICellView {
  id: string;
  version: string;
  source: string;
  editable: boolean;
  deletable: boolean;
  isCode: boolean;
}

/** One replacement in a text. Offsets refer to the text before all changes, in order. */
export interface ITextChange {
  from: number;
  to: number;
  insert: string;
}

/**
 * The smallest set of replacements that turns `before` into `after`, so that carets and other users' text in the same
 * cell stay in place.
 */
export function textChanges(before: string, after: string): ITextChange[] {
  const changes: ITextChange[] = [];
  let position = 0;
  let open: ITextChange | null = null;
  for (const [kind, text] of fastDiff(before, after)) {
    if (kind === fastDiff.EQUAL) {
      position += text.length;
      open = null;
      continue;
    }
    if (open === null) {
      open = { from: position, to: position, insert: '' };
      changes.push(open);
    }
    if (kind === fastDiff.DELETE) {
      position += text.length;
      open.to = position;
    } else {
      open.insert += text;
    }
  }
  return changes;
}

/**
 * All reasons against applying the edits; empty when there are none. A cell the user is typing in cannot be replaced:
 * its new editor would have no undo history.
 */
export function conflictsOf(
  cells: readonly ICellView[],
  expected: Readonly<Record<string, string>>,
  edits: readonly CellEdit[],
  typedIn: ReadonlySet<string> = new Set()
): CellConflict[] {
  const byId = new Map(cells.map(cell => [cell.id, cell]));
  const conflicts = new Map<string, CellConflict>();
  const add = (id: string, reason: CellConflict['reason']): void => {
    const cell = byId.get(id);
    conflicts.set(id, {
      cell_id: id,
      current: cell?.source ?? null,
      version: cell?.version ?? null,
      reason
    });
  };
  for (const [id, version] of Object.entries(expected)) {
    const cell = byId.get(id);
    if (cell === undefined) {
      add(id, 'deleted');
    } else if (cell.version !== version) {
      add(id, 'changed');
    }
  }
  const known = new Set(byId.keys());
  for (const edit of edits) {
    const problem = problemOf(edit, byId, known) ?? disturbed(edit, typedIn);
    if (problem !== null && !conflicts.has(problem.id)) {
      add(problem.id, problem.reason);
    }
  }
  return [...conflicts.values()];
}

interface IProblem {
  id: string;
  reason: CellConflict['reason'];
}

/** Why one edit cannot be applied; `known` collects the cells inserted by earlier edits. */
function problemOf(
  edit: CellEdit,
  byId: ReadonlyMap<string, ICellView>,
  known: Set<string>
): IProblem | null {
  switch (edit.kind) {
    case 'cell-insert':
      if (known.has(edit.cell_id)) {
        return { id: edit.cell_id, reason: 'exists' };
      }
      known.add(edit.cell_id);
      return missing(edit.after, known);
    case 'cell-move':
      return missing(edit.cell_id, known) ?? missing(edit.after, known);
    case 'cell-outputs':
      // The user may have changed it to a text cell, which has no outputs.
      return byId.get(edit.cell_id)?.isCode === false
        ? { id: edit.cell_id, reason: 'changed' }
        : missing(edit.cell_id, known);
    case 'cell-source':
      return (
        refused(byId, edit.cell_id, 'editable') ?? missing(edit.cell_id, known)
      );
    case 'cell-delete': {
      const problem =
        refused(byId, edit.cell_id, 'deletable') ??
        missing(edit.cell_id, known);
      known.delete(edit.cell_id);
      return problem;
    }
  }
}

/** Whether the edit removes the cell's widget and its caret; a moved cell gets a new widget. */
export function removesWidget({ kind }: CellEdit): boolean {
  return kind === 'cell-delete' || kind === 'cell-move';
}

function disturbed(
  edit: CellEdit,
  typedIn: ReadonlySet<string>
): IProblem | null {
  const { cell_id: id } = edit;
  return removesWidget(edit) && typedIn.has(id)
    ? { id, reason: 'changed' }
    : null;
}

function missing(
  id: string | null,
  known: ReadonlySet<string>
): IProblem | null {
  return id === null || known.has(id) ? null : { id, reason: 'deleted' };
}

function refused(
  byId: ReadonlyMap<string, ICellView>,
  id: string,
  what: 'editable' | 'deletable'
): IProblem | null {
  return byId.get(id)?.[what] === false ? { id, reason: 'protected' } : null;
}
