/** Threads and their locations, for tests of marks. */

import type { Session } from '../../wire/generated';
import type { IThreadLocation } from '../../host/threadLocations';
import { markOf, type IThreadMark } from '../marks/markAppearance';

/** A location in a cell, or in a file when `number` is null. */
export function location(
  sessionId: string,
  number: number | null,
  range: { from: number; to: number } | null,
  certainty: 'exact' | 'approximate' | 'orphaned' = 'exact'
): IThreadLocation {
  return {
    sessionId,
    number,
    line: range === null ? null : range.from + 1,
    anchor: {
      document: number === null ? 'a.py' : 'a.ipynb',
      cell_id: number === null ? null : `c${number}`,
      target: range === null ? 'cell' : 'source',
      range,
      quote: '',
      prefix: '',
      suffix: '',
      version: null,
      certainty,
      output: null
    }
  };
}

/** A thread in the given status. */
export function thread(
  id: string,
  status: Session['status'] = 'idle',
  title = `Thread ${id}`
): Session {
  return {
    id,
    kind: 'task',
    source: 'task',
    title,
    model: null,
    mode: 'ask',
    tools: 'enabled',
    toolset: 'full',
    interactive: true,
    status,
    anchor: null,
    owner: null,
    parent: null,
    message_count: 0,
    last_seq: 1,
    tokens_used: 0,
    window: null,
    cost_micro_usd: null,
    created_at: '2026-11-22T08:00:00Z',
    updated_at: '2026-11-22T08:00:00Z'
  };
}

/** The mark of a thread; throws when it has none. */
export function mark(
  found: IThreadLocation,
  status: Session['status'] = 'idle'
): IThreadMark {
  const made = markOf(found, thread(found.sessionId, status));
  if (made === null) {
    throw new Error(`${found.sessionId} has no mark.`);
  }
  return made;
}
