/** How well turns and tools worked. */

import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';

import type { ToolUsage } from '../../../wire/generated';
import { act, show } from '../../__tests__/renderSettings';
import { mostRefusedTools, slowestTools } from '../ranking';

function tool(name: string, change: Partial<ToolUsage> = {}): ToolUsage {
  return {
    tool: name,
    calls: 4,
    ok: 3,
    success_rate: 0.75,
    not_run: 0,
    denied: 0,
    median_ms: 40,
    p95_ms: 90,
    ...change
  };
}

const TOOLS = [
  tool('read_cell'),
  tool('run_cell', { median_ms: 900, p95_ms: 61_000, denied: 1, not_run: 3 }),
  tool('run_command', { calls: 0, median_ms: null, p95_ms: null, denied: 4 })
];

test('tools are ranked by their slow calls and by refusals', () => {
  expect(slowestTools(TOOLS).map(each => each.tool)).toEqual([
    'run_cell',
    'read_cell'
  ]);
  expect(mostRefusedTools(TOOLS).map(each => each.tool)).toEqual([
    'run_command',
    'run_cell'
  ]);
  const many = Array.from({ length: 9 }, (_, index) => tool(`t${index}`));
  expect(slowestTools(many)).toHaveLength(5);
});

/** Show the usage section with these numbers. */
async function usage(): Promise<void> {
  await show('usage', api => {
    api.worked = {
      tools: TOOLS,
      steps: { turns: 4, steps: 10, per_turn: 2.5 },
      turns: {
        turns: 4,
        answered: 2,
        success_rate: 2 / 3,
        exits: [
          { exit: 'final_response', turns: 2 },
          { exit: 'cancelled', turns: 1 },
          { exit: 'error', turns: 1 }
        ]
      },
      first_output: { steps: 9, p50_ms: 640, p95_ms: 2100 },
      failures: [
        { code: 'cell_error', tool: 'run_cell\u202e', count: 7 },
        { code: 'overloaded', tool: null, count: 1 }
      ]
    };
  });
  await act();
}

test('success, steps and first output are facts with their remarks', async () => {
  await usage();
  const facts = within(
    screen.getByRole('region', { name: 'Turns in this workspace' })
  );
  expect(
    facts.getAllByRole('definition').map(each => each.textContent)
  ).toEqual([
    '67 %4 turns, 1 stopped',
    '2.510 model calls',
    '640 msmedian; slowest 5 %: 2.1 s'
  ]);
});

test('rankings and failures can be read without seeing the bars', async () => {
  await usage();
  const slow = within(screen.getByRole('region', { name: 'Slowest tools' }));
  expect(slow.getAllByRole('listitem').map(each => each.textContent)).toEqual([
    'run_cell1 min 1 s · 4 calls',
    'read_cell90 ms · 4 calls'
  ]);
  const refused = within(
    screen.getByRole('region', { name: 'Most refused tools' })
  );
  expect(
    refused.getAllByRole('listitem').map(each => each.textContent)
  ).toEqual(['run_command4 refused, 0 run', 'run_cell1 refused, 4 run']);
  const failures = within(
    screen.getByRole('region', { name: 'Most frequent failures' })
  );
  expect(failures.getAllByRole('row').map(each => each.textContent)).toEqual([
    'ErrorToolCount',
    'cell_errorrun_cell⟨U+202E⟩7',
    'overloadedwhole turn1'
  ]);
});

test('without turns there are no empty rankings', async () => {
  await show('usage');
  await act();
  expect(screen.queryByRole('region', { name: 'Slowest tools' })).toBeNull();
  expect(screen.getByText('No tools used.')).toBeTruthy();
});
