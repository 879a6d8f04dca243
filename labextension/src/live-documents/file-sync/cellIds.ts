/**
 * Assigns ids to the cells of a notebook file without them (formats before 4.5): those of the open notebook's cells
 * that match by text and neighbours. Pure; used by `NotebookFileSync`. The server has the same rule in
 * `notebook/formats/cell_ids.py`.
 */

import type { ICell, INotebookContent } from '@jupyterlab/nbformat';
import { UUID } from '@lumino/coreutils';

import type { FileBaseline } from './fileBaseline';

/** Above this number of pairs no cells are compared: the notebook counts as another one. */
const MAX_PAIRS = 1_000_000;

/** Return the file with an id in every cell. */
export function assignCellIds(
  content: INotebookContent,
  base: FileBaseline
): INotebookContent {
  if (content.cells.every(cell => typeof cell.id === 'string')) {
    return content;
  }
  const known = [...base].map(([id, { cell_type, source }]) => ({
    id,
    print: print(cell_type, source)
  }));
  const prints = content.cells.map(cell =>
    print(cell.cell_type, sourceOf(cell))
  );
  const ids = align(known, prints);
  const cells = content.cells.map((cell, position) => ({
    ...cell,
    id: ids[position] ?? UUID.uuid4().slice(0, 8)
  }));
  return { ...content, cells };
}

interface IKnown {
  readonly id: string;
  readonly print: string;
}

function print(cellType: string, source: string): string {
  return `${cellType}\0${source}`;
}

function sourceOf(cell: ICell): string {
  return Array.isArray(cell.source) ? cell.source.join('') : cell.source;
}

/** The known id for each cell; a run of changed cells of equal length keeps its ids. */
function align(
  known: readonly IKnown[],
  prints: readonly string[]
): (string | null)[] {
  const pairs = matches(known, prints);
  const positions = new Map<number, number>();
  let [from, to] = [0, 0];
  for (const [left, right] of [
    ...pairs,
    [known.length, prints.length]
  ] as const) {
    // A run of changed cells before the pair, then the pair itself.
    const length = left - from === right - to ? left - from : 0;
    range(length).forEach(step => positions.set(to + step, from + step));
    positions.set(right, left);
    [from, to] = [left + 1, right + 1];
  }
  return prints.map((_, at) => known[positions.get(at) ?? -1]?.id ?? null);
}

/** Pairs of equal cells in order: those at both ends, and the longest common subsequence between. */
function matches(
  known: readonly IKnown[],
  prints: readonly string[]
): [number, number][] {
  const isSame = (left: number, right: number): boolean =>
    known[left]?.print === prints[right];
  const shorter = Math.min(known.length, prints.length);
  let start = 0;
  while (start < shorter && isSame(start, start)) {
    start += 1;
  }
  let end = 0;
  while (
    end < shorter - start &&
    isSame(known.length - 1 - end, prints.length - 1 - end)
  ) {
    end += 1;
  }
  const head = range(start).map((at): [number, number] => [at, at]);
  const tail = range(end).map((at): [number, number] => [
    known.length - end + at,
    prints.length - end + at
  ]);
  const middle = longest(
    [start, known.length - end],
    [start, prints.length - end],
    isSame
  );
  return [...head, ...middle, ...tail];
}

/** The longest common subsequence of two ranges. */
function longest(
  [left, leftEnd]: readonly [number, number],
  [right, rightEnd]: readonly [number, number],
  isSame: (left: number, right: number) => boolean
): [number, number][] {
  const [rows, columns] = [leftEnd - left, rightEnd - right];
  if (rows * columns > MAX_PAIRS) {
    return [];
  }
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number): number =>
    lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * width + column] = isSame(left + row, right + column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const found: [number, number][] = [];
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    if (isSame(left + row, right + column)) {
      found.push([left + row, right + column]);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      row += 1;
    } else {
      column += 1;
    }
  }
  return found;
}

function range(length: number): number[] {
  return [...Array(length).keys()];
}
