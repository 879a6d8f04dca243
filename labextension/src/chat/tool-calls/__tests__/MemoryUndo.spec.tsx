/** The line of a call that changed the memory, with its undo. */

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as React from 'react';
import { expect, test } from 'vitest';

import type { CallView, Json } from '../../../wire/generated';
import { act, show } from '../../__tests__/harness';
import { CallLine } from '../CallLine';

function changed(kind: string, previous: string | null = null): CallView {
  const data: Json = {
    kind,
    previous,
    operation_id: 'o1',
    statement: { id: 'p-1', text: 'Prefers plotly for plots.' },
    near: []
  };
  return {
    type: 'call',
    call_id: 'call_1',
    tool: 'remember',
    arguments: {},
    raw: null,
    invalid: null,
    risk: 'write',
    external: false,
    title: 'Remember: Prefers plotly for plots.',
    target: null,
    state: 'ok',
    approval: null,
    answer: null,
    progress: [],
    content: [],
    duration_ms: null,
    handle: null,
    result: {
      ok: true,
      kind: 'memory',
      data,
      warning: null,
      error: null,
      meta: {
        total: null,
        truncated: null,
        duration_ms: null,
        document_version: null
      }
    }
  };
}

test.each([
  [changed('remembered'), 'Remembered: Prefers plotly for plots.'],
  [
    changed('replaced', 'Prefers seaborn for plots.'),
    'Replaced: Prefers seaborn for plots. → Prefers plotly for plots.'
  ],
  [changed('forgot'), 'Forgot: Prefers plotly for plots.']
])('the line says what changed and takes it back: %#', async (made, title) => {
  const { host } = show(<CallLine call={made} />);
  expect(screen.getByText(title)).toBeTruthy();

  await userEvent
    .setup()
    .click(screen.getByRole('button', { name: `Undo: ${title}` }));
  await act(() => {});

  expect(host.asked).toContainEqual(['undoOperation', 'o1']);
  expect(screen.getByRole('status').textContent).toBe('undone');
});
