import { describe, expect, test } from 'vitest';

import { session } from '../../__tests__/fakes';
import type { Anchor, PendingEdit, Proposal } from '../../../wire/generated';
import { EMPTY } from '../../reducer/conversation';
import { appliedIn, documentOf, editOfProposal } from '../proposals';

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

describe('what was proposed', () => {
  const proposal = (state: Proposal['state']): Proposal => ({
    id: `p-${state}`,
    session_id: 's1',
    turn_id: null,
    document: 'a.ipynb',
    cell_id: 'c1',
    old: '',
    new: 'x',
    current: '',
    current_version: '',
    reason: '',
    state
  });
  const edit = { session_id: 's1', document: 'a.ipynb', cell_id: 'c1' };
  const pending = [edit as PendingEdit]; // Nothing else of it is looked at.
  const view = (...states: Proposal['state'][]) => ({
    ...EMPTY,
    session: session('s1'),
    messages: [
      {
        role: 'agent' as const,
        turn_id: null,
        seq: 1,
        at: '',
        parts: states.map(state => ({
          type: 'proposal' as const,
          call_id: null,
          proposal: proposal(state)
        }))
      }
    ]
  });

  test.each([
    [['applied'], [], 'p-applied'],
    [['dismissed', 'edited'], [], 'p-edited'],
    [['applied'], pending, null],
    [['applied', 'proposed'], [], null],
    [['undone'], [], null],
    [[], [], null]
  ] as const)('%j with %j is settled: %j', (states, edits, expected) => {
    expect(appliedIn(view(...states), edits)).toBe(expected);
  });

  test('is about the document of its thread as that is called now', () => {
    const renamed = { ...anchor, document: 'new.ipynb' };
    const proposed = proposal('proposed');
    expect(documentOf(proposed, renamed)).toBe('new.ipynb');
    expect(documentOf(proposed, null)).toBe('a.ipynb');
    const copied = { ...proposed, id: 'p1.s1' };
    expect(documentOf(copied, renamed)).toBe('a.ipynb');
  });

  test('waits for keep or undo while it is applied and pending', () => {
    expect(editOfProposal(proposal('applied'), pending)).toBe(pending[0]);
    expect(editOfProposal(proposal('undone'), pending)).toBeNull();
    expect(
      editOfProposal({ ...proposal('applied'), cell_id: 'c2' }, pending)
    ).toBeNull();
  });
});
