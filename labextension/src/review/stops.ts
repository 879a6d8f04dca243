/** The changes of all pending edits as a way through them, and how they are counted. Pure. */

import type { PendingEdit } from '../wire/generated';

/** One change: of a text the n-th, counted from 0; a cell or file that was made or removed is one. */
export interface IStop {
  readonly edit: PendingEdit;
  readonly index: number;
}

/** How many changes of an edit are left in an editor of this page; null when none shows it. */
export type CountOpen = (edit: PendingEdit) => number | null;

/** All changes in the order of the list. */
export function stopsOf(
  edits: readonly PendingEdit[],
  countOpen: CountOpen
): IStop[] {
  return edits.flatMap(edit =>
    Array.from({ length: changesOf(edit, countOpen) }, (_, index) => ({
      edit,
      index
    }))
  );
}

function changesOf(edit: PendingEdit, countOpen: CountOpen): number {
  const isWhole = edit.baseline === null || edit.current === null;
  return isWhole ? 1 : (countOpen(edit) ?? Math.max(1, edit.hunks.length));
}

/** The change that comes `by` changes after the last one, round and round; from a document, its first. */
export function nextStop(
  stops: readonly IStop[],
  last: IStop | null,
  by: 1 | -1,
  document: string | null
): IStop | null {
  const at = stops.findIndex(stop => isAt(stop, last));
  if (at >= 0) {
    return stops[(at + by + stops.length) % stops.length] ?? null;
  }
  // The last one was decided: the next one is in its place.
  const path = last?.edit.document ?? document;
  const here = stops.filter(({ edit }) => edit.document === path);
  const from = by === 1 ? here[0] : here.at(-1);
  return from ?? (by === 1 ? stops[0] : stops.at(-1)) ?? null;
}

function isAt(stop: IStop, other: IStop | null): boolean {
  return stop.edit.id === other?.edit.id && stop.index === other.index;
}

/** Where a change stands in the way, from 1; 0 when it is not there. */
export function placeOf(stops: readonly IStop[], stop: IStop | null): number {
  return stops.findIndex(other => isAt(other, stop)) + 1;
}

/** The changes of one document. */
export interface IDocumentChanges {
  readonly document: string;
  readonly edits: readonly PendingEdit[];
  readonly changes: number;
}

/** The changes by document, in the order of the list. */
export function byDocument(stops: readonly IStop[]): IDocumentChanges[] {
  const groups = new Map<
    string,
    { edits: Set<PendingEdit>; changes: number }
  >();
  for (const { edit } of stops) {
    const group = groups.get(edit.document) ?? { edits: new Set(), changes: 0 };
    group.edits.add(edit);
    group.changes += 1;
    groups.set(edit.document, group);
  }
  return [...groups].map(([document, { edits, changes }]) => ({
    document,
    edits: [...edits],
    changes
  }));
}
