import { describe, expect, test } from 'vitest';

import { session } from '../../__tests__/fakes';
import type { Anchor, Session } from '../../../wire/generated';
import {
  matchesThread,
  listThreads,
  type IThreadListItem
} from '../threadList';

const anchor: Anchor = {
  document: 'a.ipynb',
  cell_id: 'c1',
  target: 'source',
  range: { from: 4, to: 10 },
  quote: 'load()',
  prefix: 'a = ',
  suffix: '',
  version: null,
  certainty: 'exact',
  output: null
};

describe('the list', () => {
  const at = (
    id: string,
    change: Partial<Anchor> = {},
    order: number | null = null,
    status: Session['status'] = 'idle'
  ): IThreadListItem => {
    const changed = { ...anchor, ...change };
    return {
      session: session(id, { kind: 'task', anchor: changed, status }),
      anchor: changed,
      order
    };
  };

  test('has those of the document in front first, in its order', () => {
    const list = listThreads(
      [
        at('lost', { certainty: 'orphaned' }, 0),
        at('last', {}, 2),
        at('done', {}, 1, 'resolved'),
        at('other', { document: 'b.py' }),
        at('unknown'),
        at('first', {}, 0)
      ],
      'a.ipynb'
    );
    const ids = (part: readonly IThreadListItem[]) =>
      part.map(({ session: { id } }) => id);
    expect(ids(list.inActiveDocument)).toEqual([
      'first',
      'last',
      'unknown',
      'lost'
    ]);
    expect(ids(list.others)).toEqual(['other']);
    expect(ids(list.resolved)).toEqual(['done']);
  });

  test.each([
    ['load title', null, true],
    ['B.IPYNB', null, false],
    ['', 'open', true],
    ['', 'resolved', false],
    ['', 'lost', false],
    ['', 'waiting', false],
    ['', 'stopped', false]
  ] as const)('is narrowed by %j and %j', (text, filter, found) => {
    expect(matchesThread(at('x'), text, filter)).toBe(found);
  });

  test.each([
    [at('x', { certainty: 'orphaned' }), 'lost'],
    [at('x', {}, 0, 'interrupted'), 'stopped'],
    [at('x', {}, 0, 'error'), 'stopped'],
    [at('x', {}, 0, 'running'), 'running']
  ] as const)('knows how a thread stands', (each, filter) => {
    expect(matchesThread(each, '', filter)).toBe(true);
  });
});
