/** Orders and counts the changes of all pending edits for navigation. Pure; used by `ReviewController`. */

import type { PendingEdit } from '../wire/generated';
import {
  withFinalNewline,
  compareWithBaseline,
  textOf
} from '../editor/textReview';

/** One change: the n-th of a text, from 0; an added or removed cell or file is one change. */
export interface IStop {
  readonly edit: PendingEdit;
  readonly index: number;
}

/** Counts an edit's remaining changes in an editor of this page; null when none shows it. */
export type CountOpen = (edit: PendingEdit) => number | null;

/** All changes in list order, those of document `first` before the others. */
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

/** Number of changes in an edit: those that an editor shows or would show. */
export function changesOf(edit: PendingEdit, countOpen: CountOpen): number {
  const isWhole = edit.baseline === null || edit.current === null;
  if (edit.kind === 'word' && !isWhole) {
    return Math.max(1, edit.hunks.length);
  }
  return isWhole ? 1 : (countOpen(edit) ?? countClosed(edit));
}

/** Edits are immutable: each read of the list makes new ones. */
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

/** The current change, from 1: the last one, or the one in its place. */
export function stopInFront(
  stops: readonly IStop[],
  last: IStop | null,
  place: number
): IStop | null {
  const found = stops.find(stop => isAt(stop, last));
  return found ?? stops[place - 1] ?? stops[0] ?? null;
}

/** The change `by` positions away, wrapping around. */
export function nextStop(
  stops: readonly IStop[],
  from: IStop | null,
  by: 1 | -1
): IStop | null {
  const at = positionOf(stops, from) - 1;
  const next = at < 0 ? 0 : (at + by + stops.length) % stops.length;
  return stops[next] ?? null;
}

/** A later change of the same edit, after one was decided. */
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

/** Position of a change, from 1; 0 when it does not exist. */
export function positionOf(
  stops: readonly IStop[],
  stop: IStop | null
): number {
  return stops.findIndex(other => isAt(other, stop)) + 1;
}

/** The changes of one document. */
export interface IDocumentChanges {
  readonly document: string;
  readonly edits: readonly PendingEdit[];
  readonly changes: number;
}

/** The changes by document, in list order. */
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
