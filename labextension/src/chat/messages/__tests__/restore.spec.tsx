import { fireEvent, screen } from '@testing-library/react';
import * as React from 'react';
import { describe, expect, it } from 'vitest';

import type { RestoreView, UserView } from '../../../wire/generated';
import { RestoreLine } from '../RestoreLine';
import { UserMessage } from '../UserMessage';
import { act, show } from '../../__tests__/harness';

const restore: RestoreView = {
  type: 'restore',
  restore_id: 'r1',
  seq: 22,
  what: ['notebook'],
  documents: [
    {
      document: 'work/a.ipynb',
      removed: [{ cell_id: 'c2', title: 'x = 1' }],
      returned: [],
      rewritten: [],
      moved: [],
      outputs: [],
      kept: [
        { cell_id: 'c1', title: 'y = 2', reason: 'changed', proposal_id: 'p1' }
      ],
      file: null,
      proposal_id: null,
      error: null
    }
  ],
  drift: [
    {
      document: 'work/a.ipynb',
      kernel: 'same',
      cells: [{ cell_id: 'c2', title: 'x = 1', names: ['x'] }]
    }
  ],
  undone: null,
  undone_turn: null
};

describe('the line of a restore', () => {
  it('says what the kernel holds and offers to restart it', () => {
    const { host } = show(<RestoreLine restore={restore} />);
    expect(
      screen.getByText(
        'The kernel of a.ipynb still holds what these cells did: “x = 1”. They defined x.'
      )
    ).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Restart kernel…' }));
    expect(host.done).toEqual([['restart', 'work/a.ipynb']]);
  });

  it('lists what was done and what was kept', () => {
    show(<RestoreLine restore={restore} />);
    fireEvent.click(screen.getByRole('button', { name: /Restored: a.ipynb/ }));
    const lines = screen.getAllByRole('listitem').map(item => item.textContent);
    expect(lines).toEqual([
      '1 cell removed',
      '“y = 2” was kept: you have changed it since. Its earlier text is proposed below.'
    ]);
  });

  it('offers no restart when the kernel was restarted', () => {
    const drift = restore.drift.map(each => ({
      ...each,
      kernel: 'restarted' as const
    }));
    show(<RestoreLine restore={{ ...restore, drift }} />);
    expect(
      screen.queryByRole('button', { name: 'Restart kernel…' })
    ).toBeNull();
  });
});

const asked: UserView = {
  role: 'user',
  message_id: 'm1',
  seq: 11,
  at: '2026-11-22T10:00:00Z',
  text: 'Tidy up',
  attachments: [],
  context: null
};

describe('going back to before a message', () => {
  it('asks what, by keyboard, and closes without doing anything on Escape', () => {
    const { server } = show(<UserMessage message={asked} />);
    fireEvent.click(
      screen.getByRole('button', { name: 'Restore to before this message…' })
    );
    const dialog = screen.getByRole('dialog');
    expect(document.activeElement).toBe(screen.getAllByRole('checkbox')[0]);
    fireEvent.keyDown(dialog, { key: 'Escape' });
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(server.requests.filter(([name]) => name === 'restore')).toEqual([]);
  });

  it('offers notebooks, files and the conversation', () => {
    show(<UserMessage message={asked} />);
    fireEvent.click(
      screen.getByRole('button', { name: 'Restore to before this message…' })
    );
    expect(screen.getAllByRole('checkbox')).toHaveLength(3);
    for (const name of [/^Notebooks/, /^Files/, /^Conversation/]) {
      expect(
        screen.getByRole<HTMLInputElement>('checkbox', { name }).checked
      ).toBe(true);
    }
  });

  it('cannot be asked for nothing', async () => {
    show(<UserMessage message={asked} />);
    fireEvent.click(
      screen.getByRole('button', { name: 'Restore to before this message…' })
    );
    for (const box of screen.getAllByRole('checkbox')) {
      await act(() => {
        fireEvent.click(box);
      });
    }
    const button = screen.getByRole<HTMLButtonElement>('button', {
      name: 'Restore'
    });
    expect(button.disabled).toBe(true);
  });
});
