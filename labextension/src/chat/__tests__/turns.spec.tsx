import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { fixture } from '../../model/__tests__/reducerFixtures';
import type { Event } from '../../wire/generated';
import { act, showPanel } from './harness';

const log = (name: string): Event[] => fixture(name).events;
const field = () => screen.getByRole('textbox');
const button = (name: string) => screen.getByRole('button', { name });

describe('tool calls', () => {
  test('are lines that open to their exact input and output', async () => {
    const { container } = await showPanel(log('parallel-calls'));
    const lines = [...container.querySelectorAll('.shoulders-Call')];
    expect(lines.map(line => line.textContent)).toEqual([
      'Read notebooka.ipynb',
      'Read notebookb.ipynbfailed',
      'Run cell 1Cell 1 · a.ipynb'
    ]);
    expect(lines[2]?.querySelector('.shoulders-Pulse')).toBeTruthy();
    fireEvent.click(button('Read notebook b.ipynb failed'));
    expect(lines[1]?.textContent).toContain('No notebook b.ipynb.');
    expect(lines[1]?.textContent).toContain('List the files first.');
    fireEvent.click(button('Run cell 1 Cell 1 · a.ipynb'));
    expect(lines[2]?.textContent).toContain('warn');
  });

  test('an invalid call shows what came', async () => {
    const { container } = await showPanel(log('invalid-call'));
    fireEvent.click(button('edit_cel failed'));
    expect(container.textContent).toContain('{"path": 3');
    expect(container.textContent).toContain('did you mean edit_cell?');
  });

  test('pictures are shown, and the cell can be gone to', async () => {
    const { container, host } = await showPanel(log('approval-allow'));
    fireEvent.click(button('Run cell 1 Cell 1 · a.ipynb'));
    fireEvent.click(button('a.ipynb'));
    expect(host.done).toEqual([['open', 'a.ipynb', 'c1']]);
    expect(container.querySelector('img')?.src).toBe(
      'data:image/png;base64,aGk='
    );
    expect(container.textContent).toContain('You allowed this.');
  });
});

describe('approvals', () => {
  test('show exactly what would run and why they ask', async () => {
    const { container } = await showPanel(log('approval-pending'));
    const card = container.querySelector('.shoulders-Approval');
    expect(card?.querySelector('pre')?.textContent).toBe('df.plot()');
    expect(card?.textContent).not.toContain('Running code asks');
    fireEvent.click(button('Details'));
    expect(card?.textContent).toContain('Running code asks in this mode.');
    expect(card?.textContent).toContain('cell_idc1');
  });

  test.each([
    [true, false, false, ['sandboxed', 'no network']],
    [true, true, false, ['sandboxed, read-only', 'no network']],
    [true, false, true, ['sandboxed', 'network']],
    [true, null, null, ['sandboxed']],
    [false, null, null, ['not sandboxed']],
    [null, null, null, []]
  ])(
    'tell how a command is confined: %s, %s, %s',
    async (sandboxed, read_only, network, badges) => {
      const events = log('approval-pending').map(event =>
        event.type === 'approval-request'
          ? { ...event, sandboxed, read_only, network }
          : event
      );
      const { container } = await showPanel(events);
      const shown = container.querySelectorAll(
        '.shoulders-Approval .shoulders-Badge'
      );
      expect([...shown].map(badge => badge.textContent)).toEqual(badges);
    }
  );

  test('are answered by keyboard alone', async () => {
    const { server } = await showPanel(log('approval-pending'));
    const user = userEvent.setup();
    button('Run').focus();
    await user.keyboard('{Tab}{Tab}{ArrowDown}{ArrowDown}{Enter}');
    expect(server.requests.at(-1)).toEqual([
      'answerApproval',
      's1',
      'k1',
      { decision: 'allow', scope: 'session' }
    ]);
  });

  test('can be denied with words', async () => {
    const { server } = await showPanel(log('approval-pending'));
    const user = userEvent.setup();
    await user.click(button('No, do this instead…'));
    expect(button('Deny and stop')).toBeTruthy();
    await user.keyboard('use{Escape}');
    expect(screen.queryByLabelText('What to do instead (optional)')).toBeNull();
    expect(document.activeElement).toBe(button('No, do this instead…'));
    await user.keyboard('{Enter}use the other column');
    expect(button('Deny and continue')).toBeTruthy();
    await user.keyboard('{Enter}');
    expect(server.requests.at(-1)?.[3]).toEqual({
      decision: 'deny',
      feedback: 'use the other column'
    });
  });

  test('answered elsewhere they become lines', async () => {
    const { socket, container, server } = await showPanel(
      log('approval-pending')
    );
    server.fail({ code: 'already_answered' }, 409);
    fireEvent.click(button('Run'));
    await act(() => {});
    expect(screen.queryByRole('alert')).toBeNull();
    const base = { session_id: 's1', turn_id: 't1', at: '', call_id: 'k1' };
    await act(() =>
      socket.deliver([
        {
          ...base,
          seq: 9,
          type: 'approval-answer',
          decision: 'allow',
          scope: 'once',
          feedback: null,
          by: 'user'
        }
      ])
    );
    expect(container.querySelector('.shoulders-Approval')).toBeNull();
    expect(container.querySelector('.shoulders-Call')).toBeTruthy();
  });

  test('that fail say so', async () => {
    const { server } = await showPanel(log('approval-pending'));
    server.fail({ message: 'No luck.' });
    fireEvent.click(button('Run'));
    await act(() => {});
    expect(screen.getByRole('alert').textContent).toContain('No luck.');
  });
});

describe('turns', () => {
  test('a proposal is applied by the user', async () => {
    const { server, container } = await showPanel(
      log('proposal').filter(({ type }) => type !== 'proposal-resolve')
    );
    const card = container.querySelector('.shoulders-Proposal');
    expect(card?.textContent).toContain('−x = 10');
    fireEvent.click(button('Use the agent’s text'));
    expect(server.requests.at(-1)).toEqual([
      'decideProposal',
      'q1',
      { decision: 'apply', text: 'x = 2', base: 'x = 10' }
    ]);
  });

  test('a decided proposal has no buttons', async () => {
    const { container } = await showPanel(log('proposal'));
    const card = container.querySelector('.shoulders-Proposal');
    expect(card?.textContent).toContain('applied');
    expect(screen.queryByRole('button', { name: 'Apply' })).toBeNull();
  });

  test('an error says what to do and can be tried again', async () => {
    const { server } = await showPanel(log('error-exit').slice(0, -2));
    expect(screen.getByRole('alert').textContent).toContain(
      'Set another key in the settings.'
    );
    fireEvent.click(button('Try again'));
    await act(() => {});
    expect(server.requests.at(-1)?.[0]).toBe('sendMessage');
  });

  test('an error that was gone on from cannot be tried again', async () => {
    await showPanel(log('error-exit'));
    expect(screen.getByRole('alert')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
  });

  test('an interrupted turn can go on', async () => {
    const { server } = await showPanel(log('interrupted'));
    fireEvent.click(button('Resume'));
    expect(server.requests.at(-1)).toEqual([
      'resume',
      's1',
      { decision: 'resume' }
    ]);
  });

  test('a pause before a retry counts down', async () => {
    const { container } = await showPanel(log('retry-waiting'));
    const line = container.querySelector('.shoulders-Status')?.textContent;
    expect(line).toContain('Waiting to try again…Step 1/25');
    const why = container.querySelector('.shoulders-Retrying')?.textContent;
    expect(why).toMatch(
      /The provider is overloaded.*Trying again (in \d+ seconds?|now) \(attempt \d\)/
    );
    expect(container.querySelector('.shoulders-Dots')).toBeNull();
  });

  test('Esc stops a running turn, and nothing when idle', async () => {
    const { server } = await showPanel(log('parallel-calls'));
    fireEvent.keyDown(field(), { key: 'Escape' });
    expect(server.requests.at(-1)).toEqual(['cancel', 's1']);
  });

  test('queued messages can be changed and removed', async () => {
    const { server } = await showPanel(log('queued-messages'));
    const user = userEvent.setup();
    const queue = screen.getByRole('list', { name: 'Queued messages' });
    expect(queue.textContent).toBe('Queuedlater');
    await user.click(within(queue).getByRole('button', { name: 'Edit' }));
    await user.keyboard(' today{Enter}');
    expect(server.requests.at(-1)).toEqual([
      'editMessage',
      's1',
      'm4',
      'later today'
    ]);
    await user.click(within(queue).getByRole('button', { name: 'Remove' }));
    expect(server.requests.at(-1)).toEqual(['removeMessage', 's1', 'm4']);
  });

  test('a summary ends the turn with a banner', async () => {
    const { container } = await showPanel(log('totals-and-cards'));
    const banner = container.querySelector('.shoulders-Completed');
    expect(banner?.querySelector('.shoulders-Markdown')?.textContent).toBe(
      'The plot now shows every species.\n'
    );
    expect(screen.getByText('1 of 2 done')).toBeTruthy();
  });
});
