import { fireEvent, screen } from '@testing-library/react';
import * as React from 'react';
import { describe, expect, it, vi } from 'vitest';

import { SessionCommands } from '../../../model/sessions/sessionCommands';
import type {
  AgentView,
  CallView,
  EndView,
  PartView,
  RestoreView
} from '../../../wire/generated';
import { canBeUndone, TurnFooter } from '../TurnFooter';
import { act, show } from '../../__tests__/harness';

const edited: CallView = {
  type: 'call',
  call_id: 'c1',
  tool: 'edit_cell',
  arguments: {},
  raw: null,
  invalid: null,
  risk: 'write',
  external: false,
  title: 'Edit cell 1',
  target: 'a.ipynb',
  state: 'ok',
  approval: null,
  answer: null,
  progress: [],
  result: null,
  content: [],
  duration_ms: 3,
  handle: null
};
const end: EndView = {
  type: 'end',
  turn_id: 't1',
  exit: 'final_response',
  error: null,
  summary: null
};
const undo: RestoreView = {
  type: 'restore',
  restore_id: 'r1',
  seq: 9,
  what: ['notebook', 'files'],
  documents: [],
  drift: [],
  undone: null,
  undone_turn: 't1'
};

function turn(...parts: PartView[]): AgentView {
  return { role: 'agent', turn_id: 't1', seq: 2, at: '', parts };
}

describe('a turn', () => {
  it.each<[string, PartView[], boolean]>([
    ['that changed something', [edited, end], true],
    ['that continues', [edited], false],
    ['that only read', [{ ...edited, risk: 'read' }, end], false],
    ['whose change failed', [{ ...edited, state: 'error' }, end], false],
    ['that called a server', [{ ...edited, tool: 'mcp__a__b' }, end], false],
    ['that was taken back', [edited, end, undo], false],
    [
      'whose undoing was taken back',
      [edited, end, undo, { ...undo, undone: 'r1', undone_turn: null }],
      true
    ]
  ])('%s', (_name, parts, expected) => {
    expect(canBeUndone(turn(...parts))).toBe(expected);
  });

  it('is taken back by its button', async () => {
    const undone = vi
      .spyOn(SessionCommands.prototype, 'undoTurn')
      .mockResolvedValue();
    show(<TurnFooter message={turn(edited, end)} last />);
    const button = screen.getByRole('button', { name: 'Undo this turn' });
    await act(() => {
      fireEvent.click(button);
    });
    expect(undone).toHaveBeenCalledWith(expect.any(String), 't1');
  });
});
