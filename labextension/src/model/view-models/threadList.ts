/** Filters and orders the list of threads. Pure; used by `ThreadList`. */

import type { Anchor, Session } from '../../wire/generated';

/** The filters of the list. */
export const THREAD_FILTERS = [
  'open',
  'waiting',
  'running',
  'stopped',
  'lost',
  'resolved'
] as const;

export type ThreadFilter = (typeof THREAD_FILTERS)[number];

/** A thread with its current anchor. */
export interface IThreadListItem {
  readonly session: Session;
  readonly anchor: Anchor;
  /** Position among the threads of its document; null when unknown. */
  readonly order: number | null;
}

/** The list in groups. */
export interface IThreadList {
  /** Threads of the active document, in text order; those whose anchor is lost come last. */
  readonly inActiveDocument: readonly IThreadListItem[];
  /** Threads of other documents, the latest first. */
  readonly others: readonly IThreadListItem[];
  readonly resolved: readonly IThreadListItem[];
}

/** Group and order threads, given the latest first. */
export function listThreads(
  threads: readonly IThreadListItem[],
  document: string | null
): IThreadList {
  const open = threads.filter(thread => !isResolved(thread));
  const isHere = ({ anchor }: IThreadListItem): boolean =>
    anchor.document === document;
  return {
    inActiveDocument: open
      .filter(isHere)
      .sort((one, other) => compare(one, other)),
    others: open.filter(thread => !isHere(thread)),
    resolved: threads.filter(isResolved)
  };
}

/** Whether a thread matches a word in its title, quote or document, and a status filter. */
export function matchesThread(
  { session, anchor }: IThreadListItem,
  text: string,
  filter: ThreadFilter | null
): boolean {
  const words = text.toLowerCase().split(/\s+/);
  const said =
    `${session.title}\n${anchor.quote}\n${anchor.document}`.toLowerCase();
  return (
    words.every(word => said.includes(word)) &&
    (filter === null || hasStatus({ session, anchor }, filter))
  );
}

function hasStatus(
  { session, anchor }: Pick<IThreadListItem, 'session' | 'anchor'>,
  filter: ThreadFilter
): boolean {
  const { status } = session;
  switch (filter) {
    case 'open':
      return status !== 'resolved';
    case 'stopped':
      return status === 'error' || status === 'interrupted';
    case 'lost':
      return anchor.certainty === 'orphaned';
    case 'waiting':
    case 'running':
    case 'resolved':
      return status === filter;
  }
}

function isResolved({ session }: IThreadListItem): boolean {
  return session.status === 'resolved';
}

function compare(one: IThreadListItem, other: IThreadListItem): number {
  return rank(one) - rank(other);
}

function rank({ anchor, order }: IThreadListItem): number {
  return anchor.certainty === 'orphaned' ? LAST : (order ?? LAST - 1);
}

/** More than any document has threads. */
const LAST = 1_000_000;
