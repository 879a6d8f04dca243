/** What waits for the user: questions, pauses at a limit, results; shared files; closed conversations. */

import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test, vi } from 'vitest';

import { fixture } from '../../model/__tests__/fixtures';
import {
  noBudget,
  problem,
  session,
  status
} from '../../model/__tests__/fakes';
import type { BudgetState, Event } from '../../wire/generated';
import { act, showPanel } from './harness';

const log = (name: string): Event[] => fixture(name).events;
const field = () => screen.getByPlaceholderText<HTMLTextAreaElement>(/…$/);
const button = (name: string) => screen.getByRole('button', { name });
const base = { session_id: 's1', turn_id: 't1', at: '' };
const answered = (seq: number, ...answer: string[]): Event => ({
  ...base,
  seq,
  type: 'clarify-answer',
  call_id: 'k1',
  answer
});
const single = (): Event[] => log('questions').slice(0, 7);
const limited = (
  change: Partial<BudgetState['limits'][number]>
): BudgetState => ({
  ...noBudget,
  limits: noBudget.limits.map(limit =>
    limit.scope === 'turn' ? { ...limit, ...change } : limit
  )
});

describe('a question', () => {
  test('is answered with one click on an option', async () => {
    const { server, socket, container } = await showPanel(single());
    const card = screen.getByRole('region', { name: /Which column/ });
    expect(within(card).getByRole('group').textContent).toBe('ab');
    fireEvent.click(button('b'));
    expect(server.asked.at(-1)).toEqual([
      'answerQuestion',
      's1',
      'k1',
      { answer: 'b' }
    ]);
    await act(() => socket.deliver([answered(8, 'b')]));
    expect(screen.queryByRole('button', { name: 'a' })).toBeNull();
    expect(screen.getByLabelText('Your answer').textContent).toBe('b');
    expect(container.querySelector('.shoulders-Call')).toBeNull();
  });

  test('takes several options, sent in the order they are offered', async () => {
    const { server } = await showPanel(log('question-waiting'));
    expect(button('Send')).toHaveProperty('disabled', true);
    const user = userEvent.setup();
    await user.click(button('c'));
    await user.click(button('a'));
    await user.click(button('b'));
    await user.click(button('b'));
    expect(button('a').getAttribute('aria-pressed')).toBe('true');
    expect(button('b').getAttribute('aria-pressed')).toBe('false');
    await user.click(button('Send'));
    expect(server.asked.at(-1)?.[3]).toEqual({ answer: ['a', 'c'] });
  });

  test('is answered by the next message, as the input says', async () => {
    const { server } = await showPanel(log('question-waiting'));
    expect(field().placeholder).toBe('Answer…');
    fireEvent.change(field(), { target: { value: 'None of them' } });
    fireEvent.keyDown(field(), { key: 'Enter' });
    await act(() => {});
    const sent = server.asked.find(([name]) => name === 'sendMessage');
    expect(sent?.[2]).toMatchObject({ text: 'None of them' });
  });

  test('of an interrupted turn can still be answered', async () => {
    const events = log('question-answered-by-message');
    const { server, socket } = await showPanel(events.slice(0, 10));
    expect(screen.getByRole('region', { name: 'Interrupted' })).toBeTruthy();
    fireEvent.click(button('a'));
    fireEvent.click(button('Send'));
    expect(server.asked.at(-1)?.[0]).toBe('answerQuestion');
    await act(() => socket.deliver(events.slice(10)));
    expect(screen.getByLabelText('Your answer').textContent).toBe('All but c');
    expect(field().placeholder).toBe('Add something for the next step…');
  });

  test('answered in another page says so to the second', async () => {
    const { server, socket } = await showPanel(single());
    server.fail({ code: 'already_answered' }, 409);
    fireEvent.click(button('a'));
    await act(() => {});
    expect(screen.queryByRole('alert')).toBeNull();
    expect(
      screen.getByText('This question was answered already.')
    ).toBeTruthy();
    await act(() => socket.deliver([answered(8, 'b')]));
    expect(screen.getByLabelText('Your answer').textContent).toBe('b');
    expect(
      screen.getByText('This question was answered already.')
    ).toBeTruthy();
  });

  test('of a turn that ended is not asked any more', async () => {
    const end: Event = {
      ...base,
      seq: 8,
      type: 'turn-end',
      exit: 'cancelled',
      error: null,
      summary: null
    };
    await showPanel([...single(), end]);
    expect(screen.getByText('Not answered')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'a' })).toBeNull();
    expect(field().placeholder).toBe('Ask about your notebook…');
  });

  test('is text of the model: nothing in it runs or loads', async () => {
    const events = single().map(event =>
      event.type === 'clarify-request'
        ? {
            ...event,
            question: 'Which <img src=x onerror="alert(1)"> **one**?'
          }
        : event
    );
    const { container } = await showPanel(events);
    const card = container.querySelector('.shoulders-Question');
    expect(card?.querySelector('img')).toBeNull();
    expect(card?.querySelector('strong')?.textContent).toBe('one');
  });
});

describe('a turn at a limit of money', () => {
  test('goes on with a higher one', async () => {
    const { server, container } = await showPanel(log('paused'));
    const card = container.querySelector('.shoulders-Pause');
    expect(card?.textContent).toContain('$0.52 of $0.50 spent.');
    expect(screen.getByText('Paused at a limit')).toBeTruthy();
    fireEvent.click(button('Go on, up to $0.78'));
    expect(server.asked.at(-1)).toEqual([
      'resume',
      's1',
      { decision: 'resume', limit_micro_usd: 780_000 }
    ]);
  });

  test('takes an amount of the user', async () => {
    const { server } = await showPanel(log('paused'));
    const user = userEvent.setup();
    await user.click(button('Other amount…'));
    await user.keyboard('3{Enter}');
    expect(server.asked.at(-1)?.[2]).toEqual({
      decision: 'resume',
      limit_micro_usd: 3_000_000
    });
  });

  test('says what the administrator allows and offers no more', async () => {
    const { container } = await showPanel(log('paused'), server => {
      server.budget = limited({ administrator_micro_usd: 900_000 });
    });
    expect(container.textContent).toContain('administrator allows up to $0.90');
    expect(button('Up to $0.90')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Up to $1.10' })).toBeNull();
  });

  test('can be stopped', async () => {
    const { server } = await showPanel(log('paused'));
    fireEvent.click(button('Stop here'));
    expect(server.asked.at(-1)?.[2]).toEqual({ decision: 'discard' });
  });

  test('that went on shows the limit as a remark', async () => {
    const resumed: Event = {
      ...base,
      seq: 8,
      type: 'turn-resume',
      model: 'demo/demo',
      provider: 'demo',
      mode: 'ask',
      step_limit: 25
    };
    const { container } = await showPanel([...log('paused'), resumed]);
    expect(container.querySelector('.shoulders-Pause')).toBeNull();
    expect(container.querySelector('.shoulders-Remark')?.textContent).toContain(
      '$0.52 are spent'
    );
  });
});

describe('a turn that has outgrown its model', () => {
  const tooLong = (): Event[] =>
    log('paused').map(event =>
      event.type === 'notice'
        ? { ...event, code: 'compaction_ask', text: 'It does not fit.' }
        : event
    );

  test('goes on with a summary', async () => {
    const { server, container } = await showPanel(tooLong());
    const card = container.querySelector('.shoulders-Pause');
    expect(card?.textContent).toContain('It does not fit.');
    expect(card?.textContent).not.toContain('$');
    fireEvent.click(button('Summarise and go on'));
    expect(server.asked.at(-1)).toEqual([
      'resume',
      's1',
      { decision: 'resume' }
    ]);
  });

  test('can be stopped', async () => {
    const { server } = await showPanel(tooLong());
    fireEvent.click(button('Stop here'));
    expect(server.asked.at(-1)?.[2]).toEqual({ decision: 'discard' });
  });
});

describe('the budget', () => {
  const exhausted = (administrator: boolean): Event[] => [
    ...log('paused').slice(0, 5),
    {
      ...base,
      seq: 6,
      type: 'turn-end',
      exit: 'budget_exhausted',
      summary: null,
      error: {
        ...problem,
        code: 'budget_exhausted',
        message: 'All is spent.',
        details: { scope: 'month', administrator }
      }
    }
  ];

  test('is changed from the turn it ended', async () => {
    const { server } = await showPanel(exhausted(false), server => {
      server.budget = limited({
        user_micro_usd: 500_000,
        administrator_micro_usd: 2_000_000
      });
    });
    const user = userEvent.setup();
    await user.click(button('Change the budget…'));
    await act(() => {});
    const dialog = screen.getByRole('dialog', { name: 'Budget' });
    expect(dialog.textContent).toContain('your administrator allows $2.00');
    const month = screen.getByLabelText('A month, in dollars');
    expect(document.activeElement).toBe(month);
    expect(screen.getByLabelText('A turn')).toHaveProperty('value', '0.50');
    await user.type(month, 'much');
    expect(button('Save')).toHaveProperty('disabled', true);
    await user.clear(month);
    await user.type(month, '7.5{Enter}');
    await act(() => {});
    expect(server.asked.at(-1)).toEqual([
      'putBudget',
      {
        month_micro_usd: 7_500_000,
        day_micro_usd: null,
        session_micro_usd: null,
        turn_micro_usd: 500_000
      }
    ]);
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  test('that is refused says why and keeps what was written', async () => {
    const { server } = await showPanel(exhausted(false));
    const user = userEvent.setup();
    await user.click(button('Change the budget…'));
    await act(() => {});
    await user.type(screen.getByLabelText('A day'), '9');
    server.fail({ message: 'Your administrator allows $5.00.' }, 422);
    await user.click(button('Save'));
    await act(() => {});
    const dialog = screen.getByRole('dialog');
    expect(dialog.textContent).toContain('Your administrator allows $5.00.');
    expect(screen.getByLabelText('A day')).toHaveProperty('value', '9');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  test('is said once: the remarks before the end are not repeated', async () => {
    const paused = log('paused');
    const said = paused[5];
    const text = said?.type === 'notice' ? said.text : '';
    const nearly: Event = {
      ...base,
      seq: 6,
      type: 'notice',
      level: 'warning',
      code: 'budget_80',
      text: '104 % is spent.',
      call_id: null,
      details: null
    };
    const end: Event = {
      ...base,
      seq: 9,
      type: 'turn-end',
      exit: 'budget_exhausted',
      summary: null,
      error: { ...problem, code: 'budget_exhausted', message: text }
    };
    const later = paused.slice(5).map(event => ({
      ...event,
      seq: event.seq + 1
    }));
    const { container } = await showPanel([
      ...paused.slice(0, 5),
      nearly,
      ...later,
      end
    ]);
    expect(container.querySelector('.shoulders-Remark')).toBeNull();
    expect(screen.getAllByText(text)).toHaveLength(1);
  });

  test('of the administrator is not offered to be changed', async () => {
    await showPanel(exhausted(true));
    expect(screen.getByText('All is spent.')).toBeTruthy();
    expect(
      screen.queryByRole('button', { name: 'Change the budget…' })
    ).toBeNull();
  });
});

describe('a result the user supplies', () => {
  test('is text, or an error', async () => {
    const { server, container } = await showPanel(log('results-from-user'));
    const cards = container.querySelectorAll('.shoulders-Supply');
    expect(cards).toHaveLength(1); // The other call has its result.
    expect(cards[0]?.textContent).toContain('Cell 1 · a.ipynb');
    const user = userEvent.setup();
    await user.type(screen.getByLabelText('Result of Run cell 1'), '42');
    await user.click(button('Send result'));
    expect(server.asked.at(-1)).toEqual([
      'supplyResult',
      's1',
      'k2',
      { content: '42', ok: true }
    ]);
    await user.click(button('Send as error'));
    expect(server.asked.at(-1)?.[3]).toEqual({ content: '42', ok: false });
  });
});

describe('a shared file', () => {
  const urls = { createObjectURL: () => 'blob:1', revokeObjectURL: () => {} };

  test('is a card with a picture that came through the API', async () => {
    Object.assign(URL, urls);
    const { server, host, container } = await showPanel(
      log('totals-and-cards')
    );
    const card = screen.getByRole('region', { name: 'Shared file plot.png' });
    expect(card.textContent).toContain('2 kB');
    expect(server.asked).toContainEqual(['artifact', 's1', 'plot.png']);
    const picture = container.querySelector('.shoulders-Artifact img');
    expect(picture?.getAttribute('src')).toBe('blob:1');
    fireEvent.click(button('Download plot.png'));
    await act(() => {});
    expect(host.done.at(-1)).toEqual(['save', 'plot.png']);
  });

  const sharing = (name: string, media_type: string): Event[] =>
    log('totals-and-cards').map(event =>
      event.type === 'artifact-share'
        ? { ...event, name, media_type, description: 'Made **today**' }
        : event
    );

  test.each([
    ['a,b\n1,2\n', 'ab', '12'],
    ['no table', undefined, undefined]
  ])('of a table shows its first rows: %j', async (text, header, row) => {
    const { container } = await showPanel(
      sharing('a.csv', 'text/csv'),
      server => {
        server.file = new Blob([text]);
      }
    );
    await vi.waitFor(() =>
      expect(
        container.querySelector(
          '.shoulders-Artifact-table, .shoulders-Artifact pre'
        )
      ).toBeTruthy()
    );
    const [head, first] = container.querySelectorAll('.shoulders-Artifact tr');
    expect(head?.textContent).toBe(header);
    expect(first?.textContent).toBe(row);
  });

  test('of text is shown when asked for', async () => {
    const { container, server } = await showPanel(sharing('a.md', 'text/md'));
    expect(container.textContent).toContain('Made **today**');
    expect(server.asked.map(([name]) => name)).not.toContain('artifact');
    fireEvent.click(button('Preview'));
    await vi.waitFor(() =>
      expect(container.querySelector('.shoulders-Plain')?.textContent).toBe(
        'content'
      )
    );
  });

  test('of HTML is shown in a frame that may do nothing', async () => {
    const { container } = await showPanel(sharing('r.html', 'text/html'));
    fireEvent.click(button('Preview'));
    const frame = await vi.waitFor(() => {
      const found = container.querySelector('iframe');
      expect(found).not.toBeNull();
      return found;
    });
    expect(frame?.getAttribute('sandbox')).toBe('');
    expect(frame?.getAttribute('srcdoc')).toContain("default-src 'none'");
  });

  test('that cannot be read can be tried again', async () => {
    Object.assign(URL, urls);
    const { container } = await showPanel(log('totals-and-cards'), server => {
      const read = server.artifact.bind(server);
      let first = true;
      server.artifact = async (id, name) => {
        if (first) {
          first = false;
          throw new Error('gone');
        }
        return read(id, name);
      };
    });
    expect(screen.getByText(/did not answer/)).toBeTruthy();
    fireEvent.click(button('Try again'));
    await act(() => {});
    expect(container.querySelector('.shoulders-Artifact img')).toBeTruthy();
  });
});

describe('the checklist', () => {
  test('folds, and then says what is next', async () => {
    const { container } = await showPanel(log('totals-and-cards'));
    const list = screen.getByRole('region', { name: 'Checklist' });
    expect(list.querySelectorAll('li')).toHaveLength(2);
    fireEvent.click(within(list).getByRole('button'));
    expect(list.textContent).toBe('1 of 2 doneFix');
    expect(container.querySelector('.shoulders-Todo li')).toBeNull();
  });

  test('is out of the way when all is done', async () => {
    const events = log('totals-and-cards').map(event =>
      event.type === 'todo-update'
        ? {
            ...event,
            items: event.items.map(item => ({ ...item, done: true }))
          }
        : event
    );
    await showPanel(events);
    const list = screen.getByRole('region', { name: 'Checklist' });
    expect(list.textContent).toBe('2 of 2 done');
    fireEvent.click(within(list).getByRole('button'));
    expect(list.querySelectorAll('li')).toHaveLength(2);
  });
});

describe('a conversation that can only be read', () => {
  const future = { ...base, seq: 15, type: 'from-the-future' };

  test('is shown as far as it is understood, and says so', async () => {
    const events = log('streamed-text');
    const seq = (events.at(-1)?.seq ?? 0) + 1;
    // What a newer server may have written.
    const news = { ...future, seq } as unknown as Event;
    const { container, host, conversations } = await showPanel([
      ...events,
      news
    ]);
    expect(container.textContent).toContain('Hello world');
    expect(
      screen.getByText('This conversation can only be read.')
    ).toBeTruthy();
    expect(screen.getByPlaceholderText(/can only be read/)).toHaveProperty(
      'disabled',
      true
    );
    fireEvent.click(button('Export'));
    expect(host.done).toEqual([['save', 'Fix the plot.md']]);
    fireEvent.click(screen.getByText('New conversation'));
    expect(conversations.tabs).toHaveLength(2);
  });

  test('is known from a refused message too; what cannot be exported is not offered', async () => {
    const { server } = await showPanel(log('streamed-text'));
    server.exportSession = async () => Promise.reject(new Error('no'));
    server.fail({ code: 'quarantined', message: 'Unreadable.' }, 409);
    fireEvent.change(field(), { target: { value: 'hi' } });
    fireEvent.keyDown(field(), { key: 'Enter' });
    await act(() => {});
    expect(
      screen.getByText('This conversation can only be read.')
    ).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Export' })).toBeNull();
  });

  test('was set aside by the server with its turn open', async () => {
    const events = log('interrupted');
    const seq = (events.at(-1)?.seq ?? 0) + 1;
    const aside: Event = {
      ...base,
      seq,
      type: 'session-update',
      quiet: false,
      session: session('s1', { status: 'error', tools: 'disabled' })
    };
    const { container, socket } = await showPanel(events);
    expect(button('Resume')).toBeTruthy();
    await act(() => socket.deliver([aside]));
    expect(screen.getByText(/cannot take it up any more/)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Resume' })).toBeNull();
    expect(container.querySelector('.shoulders-Status')).toBeNull();
  });

  const refused = {
    ...problem,
    code: 'not_found' as const,
    details: { session_id: 's1' }
  };

  test.each([
    { type: 'session-delete' as const, session_id: 's1' },
    { type: 'frame-error' as const, error: refused }
  ])(
    'was deleted in another page, and can be brought back: $type',
    async frame => {
      const { server, socket } = await showPanel(log('streamed-text'));
      await act(() => socket.frameReceived.emit(frame));
      expect(screen.getByText('This conversation was deleted.')).toBeTruthy();
      fireEvent.click(button('Bring it back'));
      await act(() => {});
      expect(server.asked).toContainEqual(['undeleteSession', 's1']);
      expect(screen.queryByText('This conversation was deleted.')).toBeNull();
      expect(field().disabled).toBe(false);
    }
  );
});

test('a conversation deleted in another page is gone from the history', async () => {
  const { socket, conversations } = await showPanel([], server => {
    server.sessionList = [session('s2'), session('s3')];
  });
  await act(() =>
    socket.frameReceived.emit({ type: 'session-delete', session_id: 's2' })
  );
  const left = conversations.history.all.map(({ id }) => id);
  expect(left).toEqual(['s3']);
});

test('a session the server no longer lists is gone from the history', async () => {
  const at = (day: number): string => `2026-11-0${day}T10:00:00Z`;
  const { server, conversations } = await showPanel([], server => {
    server.sessionList = [1, 2, 3].map(day =>
      session(`s${day}`, { updated_at: at(day) })
    );
  });
  conversations.history.receive([session('s9', { updated_at: at(9) })]);
  server.sessionList = server.sessionList
    .filter(({ id }) => id !== 's2')
    .reverse();
  await conversations.history.find({ text: '' });
  // What was made while the answer was on its way stays.
  expect(conversations.history.all.map(({ id }) => id)).toEqual([
    's9',
    's3',
    's1'
  ]);
});

test('a state directory that cannot be used is said until it can', async () => {
  const { server } = await showPanel([], server => {
    server.serverStatus = {
      ...status,
      state_directory_error: { ...problem, message: 'The disk is full.' }
    };
  });
  expect(screen.getByRole('alert').textContent).toContain('The disk is full.');
  server.serverStatus = status;
  fireEvent.click(button('Check again'));
  await act(() => {});
  expect(screen.queryByRole('alert')).toBeNull();
});
