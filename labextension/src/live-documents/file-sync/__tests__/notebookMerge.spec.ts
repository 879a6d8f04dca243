import { describe, expect, it } from 'vitest';

import type { JsonObject } from '../../notebooks/cellConversion';
import { fileBaselineOf, type MergeCell } from '../fileBaseline';
import { merge, mergeNotebookMetadata, type IMerge } from '../notebookMerge';

type Spec = [string, string] | [string, string, string];

/** Cells of `id`, `source` and the text of an output. */
function cells(...specs: Spec[]): MergeCell[] {
  return specs.map(([cell_id, source, text]) => ({
    kind: 'cell-insert',
    cell_id,
    cell_type: 'code',
    source,
    metadata: {},
    after: null,
    outputs:
      text === undefined
        ? []
        : [{ output_type: 'stream', name: 'stdout', text }],
    execution_count: null,
    attachments: null
  }));
}

function merged(
  base: MergeCell[],
  mine: MergeCell[],
  theirs: MergeCell[],
  touched: string[] = []
): IMerge {
  return merge(fileBaselineOf(base), mine, theirs, new Set(touched));
}

function kinds({ edits }: IMerge): string[] {
  return edits.map(edit => `${edit.kind} ${edit.cell_id}`);
}

function tagged(list: MergeCell[], metadata: JsonObject): MergeCell[] {
  return list.map(cell => ({ ...cell, metadata }));
}

const BASE = cells(['a', '1'], ['b', '2'], ['c', '3']);

describe('merge', () => {
  it('does nothing when both sides are the same', () => {
    expect(merged(BASE, BASE, BASE)).toEqual({
      edits: [],
      metadata: new Map(),
      conflicts: [],
      hasLocalChanges: false
    });
  });

  it('merges a text that both changed in other lines', () => {
    const base = cells(['a', 'x = 1\ny = 2']);
    const mine = cells(['a', 'x = 1\ny = 2  # typed']);
    const theirs = cells(['a', 'x = 3\ny = 2']);
    const source = 'x = 3\ny = 2  # typed';
    expect(merged(base, mine, theirs)).toMatchObject({
      edits: [{ kind: 'cell-source', cell_id: 'a', source }],
      conflicts: [],
      hasLocalChanges: true
    });
  });

  it('takes a text that only the file changed', () => {
    const theirs = cells(['a', '1'], ['b', 'new'], ['c', '3']);
    const result = merged(BASE, BASE, theirs);
    expect(result.edits).toEqual([
      { kind: 'cell-source', cell_id: 'b', source: 'new' }
    ]);
    expect(result.hasLocalChanges).toBe(false);
  });

  it('keeps a text that only the page changed', () => {
    const mine = cells(['a', '1'], ['b', 'typed'], ['c', '3']);
    const result = merged(BASE, mine, BASE);
    expect([kinds(result), result.conflicts, result.hasLocalChanges]).toEqual([
      [],
      [],
      true
    ]);
  });

  it('keeps both texts when both sides changed one', () => {
    const mine = cells(['a', '1'], ['b', 'typed'], ['c', '3']);
    const theirs = cells(['a', '1'], ['b', 'new'], ['c', '3']);
    const result = merged(BASE, mine, theirs);
    expect(kinds(result)).toEqual([]);
    expect(result.conflicts.map(cell => cell.source)).toEqual(['new']);
    expect(result.hasLocalChanges).toBe(true);
  });

  it('has no conflict when both sides made the same change', () => {
    const both = cells(['a', '1'], ['b', 'new'], ['c', '3']);
    const result = merged(BASE, both, both);
    expect([kinds(result), result.conflicts, result.hasLocalChanges]).toEqual([
      [],
      [],
      false
    ]);
  });

  it('inserts cells that are new in the file where they stand there', () => {
    const theirs = cells(['a', '1'], ['x', 'new'], ['b', '2'], ['c', '3']);
    const [edit] = merged(BASE, BASE, theirs).edits;
    expect(edit).toMatchObject({
      kind: 'cell-insert',
      cell_id: 'x',
      after: 'a'
    });
  });

  it('keeps cells that are new in the page', () => {
    const mine = cells(['a', '1'], ['x', 'new'], ['b', '2'], ['c', '3']);
    const result = merged(BASE, mine, BASE);
    expect([kinds(result), result.hasLocalChanges]).toEqual([[], true]);
  });

  it('deletes what was deleted in the file and not changed in the page', () => {
    const theirs = cells(['a', '1'], ['c', '3']);
    expect(kinds(merged(BASE, BASE, theirs))).toEqual(['cell-delete b']);
    const typed = cells(['a', '1'], ['b', 'typed'], ['c', '3']);
    expect(kinds(merged(BASE, typed, theirs))).toEqual([]);
    expect(kinds(merged(BASE, BASE, theirs, ['b']))).toEqual([]);
  });

  it('brings back a cell deleted in the page only if the file changed it', () => {
    const mine = cells(['a', '1'], ['c', '3']);
    const same = merged(BASE, mine, BASE);
    expect([kinds(same), same.hasLocalChanges]).toEqual([[], true]);
    const theirs = cells(['a', '1'], ['b', 'new'], ['c', '3']);
    expect(kinds(merged(BASE, mine, theirs))).toEqual(['cell-insert b']);
  });

  it('takes outputs of the file unless the page has newer ones', () => {
    const theirs = cells(['a', '1', 'ran'], ['b', '2'], ['c', '3']);
    expect(kinds(merged(BASE, BASE, theirs))).toEqual(['cell-outputs a']);
    const mine = cells(['a', '1', 'ran again'], ['b', '2'], ['c', '3']);
    const kept = merged(BASE, mine, theirs, ['a']);
    expect([kinds(kept), kept.hasLocalChanges]).toEqual([[], true]);
    const same = merged(BASE, theirs, theirs, ['a']);
    expect([kinds(same), same.hasLocalChanges]).toEqual([[], false]);
  });

  it('takes the order of the file unless the page has another', () => {
    const theirs = cells(['c', '3'], ['a', '1'], ['b', '2']);
    expect(kinds(merged(BASE, BASE, theirs))).toEqual(['cell-move c']);
    const mine = cells(['b', '2'], ['a', '1'], ['c', '3']);
    const kept = merged(BASE, mine, theirs);
    expect([kinds(kept), kept.hasLocalChanges]).toEqual([[], true]);
  });

  it('takes metadata that only the file changed, without the mark of trust', () => {
    const theirs = tagged(BASE, { tags: ['x'], trusted: true });
    const result = merged(BASE, BASE, theirs);
    expect(result.metadata.get('a')).toEqual({ tags: ['x'] });
    expect(
      merged(BASE, BASE, tagged(BASE, { trusted: true })).metadata.size
    ).toBe(0);
    const mine = tagged(BASE, { tags: ['mine'] });
    const kept = merged(BASE, mine, theirs);
    expect([kept.metadata.size, kept.hasLocalChanges]).toEqual([0, true]);
  });
});

describe('merge of cells of another type', () => {
  const text = BASE.map(cell =>
    cell.cell_id === 'b' ? { ...cell, cell_type: 'markdown' as const } : cell
  );

  it('replaces a cell that has another type in the file', () => {
    const result = merged(BASE, BASE, text);
    expect(result.edits).toEqual([
      { kind: 'cell-delete', cell_id: 'b' },
      { ...text[1], after: 'a' }
    ]);
    expect(result.hasLocalChanges).toBe(false);
  });

  it('replaces a cell that has other pictures in the file', () => {
    const theirs = text.map(cell => ({
      ...cell,
      attachments: { 'a.png': { 'image/png': 'AA' } }
    }));
    expect(kinds(merged(text, text, theirs))).toContain('cell-insert b');
  });

  it.each([
    ['typed in', cells(['a', '1'], ['b', 'typed'], ['c', '3']), BASE, text],
    ['made text', text, BASE, BASE]
  ])('keeps a cell that the page has %s', (_, mine, base, theirs) => {
    const result = merged(base, mine, theirs);
    expect([kinds(result), result.hasLocalChanges]).toEqual([[], true]);
  });
});

describe('mergeWhole', () => {
  it.each([
    ['the file changed alone', {}, {}, { a: 1 }, { a: 1 }],
    ['both made the same change', {}, { a: 1 }, { a: 1 }, { a: 1 }],
    ['the page changed alone', {}, { a: 1 }, {}, null],
    ['both changed', {}, { a: 1 }, { a: 2 }, null]
  ])('knows what %s', (_, base, mine, theirs, expected) => {
    expect(mergeNotebookMetadata(base, mine, theirs)).toEqual(expected);
  });
});
