/** Numbers and passages of cited places. */

import { expect, test } from 'vitest';

import type { ICitation } from '../../../text/citations';
import type { AgentView, CallView, Json } from '../../../wire/generated';
import { citedSources, distinctCitations } from '../citedSources';

const cell = (cellId: string): ICitation => ({
  path: 'a.ipynb',
  cellId,
  line: null
});
const line = (number: number): ICitation => ({
  path: 'a.py',
  cellId: null,
  line: number
});

const match = (change: Record<string, Json>): Json => ({
  ...{ path: 'a.py', kind: 'code', cell_id: null, line: 1, heading: 'load' },
  ...{ snippet: 'def load():', is_output: false, marks: [], score: 1 },
  matched_by: 'words',
  ...change
});

/** An answer that has called a search; the other fields do not matter here. */
function searched(...matches: Json[]): AgentView {
  const call = {
    type: 'call',
    tool: 'semantic_search',
    result: { ok: true, kind: 'matches', data: { matches } }
  } as unknown as CallView;
  return { role: 'agent', parts: [call] } as unknown as AgentView;
}

test('places are numbered once, in order of first use', () => {
  const used = [cell('c2'), line(3), cell('c2'), cell('c1'), line(3)];
  const sources = citedSources(distinctCitations(used), []);
  expect(
    [...sources].map(([marker, { number }]) => `${number} ${marker}`)
  ).toEqual(['1 [[a.ipynb#c2]]', '2 [[a.py:3]]', '3 [[a.ipynb#c1]]']);
});

test('a place shows the passage of the last search that returned it', () => {
  const inCell = match({ path: 'a.ipynb', cell_id: 'c1', line: 4 });
  const sources = citedSources(
    [cell('c1'), cell('c2'), line(1), line(2)],
    [
      searched(match({ snippet: 'old' }), inCell, null, { path: 'a.py' }),
      searched(match({ snippet: 'new' }))
    ]
  );
  expect([...sources.values()].map(({ passage }) => passage)).toEqual([
    expect.objectContaining({ cell_id: 'c1', snippet: 'def load():' }),
    null,
    expect.objectContaining({ line: 1, snippet: 'new' }),
    null
  ]);
});
