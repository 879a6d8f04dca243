/** The way from a call that used the agent's database to its tables. */

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as React from 'react';
import { expect, test } from 'vitest';

import type { CallView } from '../../../wire/generated';
import { show } from '../../__tests__/harness';
import { CallDetail } from '../CallDetail';

function called(tool: string): CallView {
  return {
    type: 'call',
    call_id: 'call_1',
    tool,
    arguments: { sql: 'SELECT 1' },
    raw: null,
    invalid: null,
    risk: 'read',
    external: false,
    title: 'Query the agent’s database',
    target: 'agent.db',
    state: 'ok',
    approval: null,
    answer: null,
    progress: [],
    content: [{ type: 'text', text: '1 of 1 rows', state: null }],
    duration_ms: null,
    handle: null,
    result: {
      ok: true,
      kind: 'table',
      data: null,
      warning: null,
      error: null,
      meta: {
        total: 1,
        truncated: false,
        duration_ms: null,
        document_version: null
      }
    }
  };
}

test.each([
  ['db_query', 1],
  ['db_execute', 1],
  ['read_file', 0]
])('the result of %s leads to the tables (%i)', async (tool, count) => {
  const { host } = show(<CallDetail call={called(tool)} />);
  const links = screen.queryAllByRole('button', { name: 'Open as table' });
  expect(links).toHaveLength(count);
  if (links[0] !== undefined) {
    await userEvent.click(links[0]);
    expect(host.asked).toContainEqual(['database']);
  }
});
