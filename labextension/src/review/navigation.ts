/** The changes of all pending edits as a way through them, and how they are counted. Pure. */

import type { PendingEdit } from '../wire/generated';
import {
  withFinalNewline,
  compareWithBaseline,
  textOf
} from '../editor/textReview';

/** One change: of a text the n-th, counted from 0; a cell or file that was made or removed is one. */
export interface IStop {
  readonly edit: PendingEdit;
  readonly index: number;
}

/** How many changes of an edit are left in an editor of this page; null when none shows it. */
export type CountOpen = (edit: PendingEdit) => number | null;

/** All changes in the order of the list, those of the document that is `first` before the others. */
export function stopsOf(
  edits: readonly PendingEdit[],
  countOpen: CountOpen,
  first: string | null = null
): IStop[] {
  const isFirst = ({ document }: PendingEdit): boolean => document === first;
  return [
    ...edits.filter(isFirst),
    ...edits.filter(edit => !isFirst(edit))
  ].flatMap(edit =>
    Array.from({ length: changesOf(edit, countOpen) }, (_, index) => ({
      edit,
      index
    }))
  );
}

/** How many changes an edit is: those that an editor shows, or would show. */
export function changesOf(edit: PendingEdit, countOpen: CountOpen): number {
  const isWhole = edit.baseline === null || edit.current === null;
  return isWhole ? 1 : (countOpen(edit) ?? countClosed(edit));
}

/** Edits do not change: a list that is read again has others. */
const counted = new WeakMap<PendingEdit, number>();

function countClosed(edit: PendingEdit): number {
  const known = counted.get(edit);
  if (known !== undefined) {
    return known;
  }
  const [baseline, current] = [edit.baseline, edit.current].map(text =>
    withFinalNewline(textOf(text ?? ''))
  );
  const count =
    baseline === undefined || current === undefined
      ? 1
      : Math.max(1, compareWithBaseline(baseline, current).chunks.length);
  counted.set(edit, count);
  return count;
}

/** The change in front: the last one, or when that is gone the one in its place, from 1. */
export function stopInFront(
  stops: readonly IStop[],
  last: IStop | null,
  place: number
): IStop | null {
  const found = stops.find(stop => isAt(stop, last));
  return found ?? stops[place - 1] ?? stops[0] ?? null;
}

/** The change that is `by` changes away, round and round. */
export function nextStop(
  stops: readonly IStop[],
  from: IStop | null,
  by: 1 | -1
): IStop | null {
  const at = placeOf(stops, from) - 1;
  const next = at < 0 ? 0 : (at + by + stops.length) % stops.length;
  return stops[next] ?? null;
}

/** A change after another of the same edit was decided. */
export function afterDecision(
  stop: IStop | null,
  decided: IStop
): IStop | null {
  return stop !== null &&
    stop.edit.id === decided.edit.id &&
    decided.index < stop.index
    ? { ...stop, index: stop.index - 1 }
    : stop;
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
