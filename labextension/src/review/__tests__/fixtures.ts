/** Pending edits for tests of the review. */

import type { ITextEdit } from '../reviewedEditors';

/** An edit of one line in a cell named like its id. */
export function edit(id: string, changes: Partial<ITextEdit> = {}): ITextEdit {
  return {
    id,
    session_id: 's1',
    turn_id: 't1',
    document: 'a.ipynb',
    cell_id: id,
    cell_type: 'code',
    position: 0,
    baseline: 'a\nb\nc',
    baseline_version: 'b',
    current: 'a\nB\nc',
    current_version: 'c',
    hunks: [{ before_from: 1, before_to: 2, after_from: 1, after_to: 2 }],
    conflict: false,
    kind: 'text',
    error: null,
    ...changes
  };
}
