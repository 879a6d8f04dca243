/**
 * How a thread is marked beside its text: by what goes on in it and by how sure its place is. Used by the marks, the
 * small list and the steps from thread to thread.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

import { legible } from '../../text/hiddenCharacters';
import type { Session } from '../../wire/generated';
import type { IThreadLocation } from '../../host/threadLocations';

/** What goes on in a thread that is not resolved, the most urgent first. */
export const STATES = [
  'error',
  'waiting',
  'running',
  'interrupted',
  'idle'
] as const;

export type ThreadState = (typeof STATES)[number];

/** A thread that is marked. */
export interface IThreadMark {
  readonly place: IThreadLocation;
  readonly state: ThreadState;
  readonly title: string;
}

/** The mark of a thread; null where none is shown: it is resolved, or its place is gone. */
export function markOf(
  place: IThreadLocation,
  session: Session | undefined
): IThreadMark | null {
  const isShown =
    session !== undefined &&
    session.status !== 'resolved' &&
    place.anchor.certainty !== 'orphaned';
  return isShown
    ? { place, state: session.status as ThreadState, title: session.title }
    : null;
}

export function isApproximate({ place }: IThreadMark): boolean {
  return place.anchor.certainty === 'approximate';
}

/** The most urgent of what goes on in some threads. */
export function mostUrgent(marks: readonly IThreadMark[]): ThreadState {
  return (
    STATES.find(state => marks.some(mark => mark.state === state)) ?? 'idle'
  );
}

/** The classes of a mark that stands for some threads. */
export function classesOf(marks: readonly IThreadMark[]): string {
  const several = marks.length > 1 ? ' shoulders-mod-several' : '';
  const unsure = marks.some(isApproximate) ? ' shoulders-mod-approximate' : '';
  return `shoulders-mod-${mostUrgent(marks)}${unsure}${several}`;
}

/** The name of a thread: what was asked in it first. */
export function nameOf(
  { title }: Pick<IThreadMark, 'title'>,
  trans: TranslationBundle
): string {
  return title.trim() === '' ? trans.__('Task thread') : legible(title);
}

/** What a mark says: the thread's name and what goes on, or how many there are. */
export function labelOf(
  marks: readonly IThreadMark[],
  trans: TranslationBundle
): string {
  const [first] = marks;
  if (first === undefined || marks.length > 1) {
    const { length } = marks;
    return trans._n('%1 task thread', '%1 task threads', length, length);
  }
  const name = nameOf(first, trans);
  const said = [
    stateOf(first.state, trans),
    isApproximate(first) ? trans.__('most likely place') : null
  ].filter(each => each !== null);
  return said.length === 0 ? name : `${name} (${said.join(', ')})`;
}

/** What goes on in a thread, in words; null when nothing does. */
function stateOf(state: ThreadState, trans: TranslationBundle): string | null {
  switch (state) {
    case 'error':
      return trans.__('stopped by an error');
    case 'waiting':
      return trans.__('waiting for you');
    case 'running':
      return trans.__('working');
    case 'interrupted':
      return trans.__('interrupted');
    case 'idle':
      return null;
  }
}
