/**
 * Appearance of a thread's mark, by the thread's state and the certainty of its location. Used by the marks, the
 * thread menu and navigation.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

import { legible } from '../../text/hiddenCharacters';
import type { Session } from '../../wire/generated';
import type { IThreadLocation } from '../../host/threadLocations';

/** States of an unresolved thread, the most urgent first. */
export const STATES = [
  'error',
  'waiting',
  'running',
  'interrupted',
  'idle'
] as const;

export type ThreadState = (typeof STATES)[number];

/** A marked thread. */
export interface IThreadMark {
  readonly location: IThreadLocation;
  readonly state: ThreadState;
  readonly title: string;
}

/** The mark of a thread; null for a resolved or orphaned one. */
export function markOf(
  location: IThreadLocation,
  session: Session | undefined
): IThreadMark | null {
  const isShown =
    session !== undefined &&
    session.status !== 'resolved' &&
    location.anchor.certainty !== 'orphaned';
  return isShown
    ? {
        location,
        state: session.status as ThreadState,
        title: session.title
      }
    : null;
}

export function isApproximate({ location }: IThreadMark): boolean {
  return location.anchor.certainty === 'approximate';
}

/** The most urgent state of some threads. */
export function mostUrgent(marks: readonly IThreadMark[]): ThreadState {
  return (
    STATES.find(state => marks.some(mark => mark.state === state)) ?? 'idle'
  );
}

/** CSS classes of a mark for some threads. */
export function classesOf(marks: readonly IThreadMark[]): string {
  const several = marks.length > 1 ? ' shoulders-mod-several' : '';
  const unsure = marks.some(isApproximate) ? ' shoulders-mod-approximate' : '';
  return `shoulders-mod-${mostUrgent(marks)}${unsure}${several}`;
}

/** The name of a thread: its first message. */
export function nameOf(
  { title }: Pick<IThreadMark, 'title'>,
  trans: TranslationBundle
): string {
  return title.trim() === '' ? trans.__('Task thread') : legible(title);
}

/** Label of a mark: the thread's name and state, or the number of threads. */
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

/** Text for a state; null for an idle thread. */
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
