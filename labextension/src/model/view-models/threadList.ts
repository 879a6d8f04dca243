/** The list of threads: which are shown, and in what order. Pure; used by `ThreadList`. */

import type { Anchor, Session } from '../../wire/generated';

/** What the list can be narrowed to. */
export const THREAD_FILTERS = [
  'open',
  'waiting',
  'running',
  'stopped',
  'lost',
  'resolved'
] as const;

export type ThreadFilter = (typeof THREAD_FILTERS)[number];

/** A thread, with its place as it is known now. */
export interface IThreadListItem {
  readonly session: Session;
  readonly anchor: Anchor;
  /** Where it stands among those of its document; null where that is not known. */
  readonly order: number | null;
}

/** The list as it is shown. */
export interface IThreadList {
  /** Those of the document in front, in the order of its text; those not found in it last. */
  readonly here: readonly IThreadListItem[];
  /** Those of other documents, the latest first. */
  readonly others: readonly IThreadListItem[];
  readonly resolved: readonly IThreadListItem[];
}

/** Put threads, the latest first, in their order. */
export function listThreads(
  threads: readonly IThreadListItem[],
  document: string | null
): IThreadList {
  const open = threads.filter(thread => !isResolved(thread));
  const isHere = ({ anchor }: IThreadListItem): boolean =>
    anchor.document === document;
  return {
    here: open.filter(isHere).sort((one, other) => compare(one, other)),
    others: open.filter(thread => !isHere(thread)),
    resolved: threads.filter(isResolved)
  };
}

/** Whether a thread is looked for: by a word of its title, quote or document, and by how it stands. */
export function isWanted(
  { session, anchor }: IThreadListItem,
  text: string,
  filter: ThreadFilter | null
): boolean {
  const words = text.toLowerCase().split(/\s+/);
  const said =
    `${session.title}\n${anchor.quote}\n${anchor.document}`.toLowerCase();
  return (
    words.every(word => said.includes(word)) &&
    (filter === null || stands({ session, anchor }, filter))
  );
}

function stands(
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

/** More than the threads of a document. */
const LAST = 1_000_000;
