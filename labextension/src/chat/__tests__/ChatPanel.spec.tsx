import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { fixture } from '../../model/__tests__/reducerFixtures';
import { model, status } from '../../model/__tests__/fakes';
import type { Event } from '../../wire/generated';
import { act, showPanel } from './harness';

const log = (name: string): Event[] => fixture(name).events;
const field = () => screen.getByRole('textbox');
const button = (name: string) => screen.getByRole('button', { name });

describe('messages', () => {
  test('an answer is markdown, a question a bubble', async () => {
    await showPanel(log('streamed-text'));
    const list = screen.getByRole('log', { name: 'Conversation' });
    expect(list.getAttribute('aria-live')).toBe('polite');
    expect(within(list).getByText('Fix the plot').className).toContain('User');
    expect(list.querySelector('.shoulders-Agent li')?.textContent).toBe('one');
    expect(screen.queryByText('Done')).toBeNull();
  });

  test('text that streams in is shown as it comes', async () => {
    const events = log('streamed-text');
    const { socket, container } = await showPanel(events.slice(0, 5));
    expect(container.querySelector('.shoulders-Dots')).toBeTruthy();
    await act(() => socket.deliver(events.slice(5, 8)));
    const answer = container.querySelector('.shoulders-Agent');
    expect(answer?.textContent.trim()).toBe('Hello world');
    expect(answer?.getAttribute('aria-busy')).toBe('true');
    expect(container.querySelector('.shoulders-Dots')).toBeNull();
    await act(() => socket.deliver(events.slice(8)));
    expect(answer?.getAttribute('aria-busy')).toBe('false');
  });

  test('reasoning is out of the way until asked for', async () => {
    const { container } = await showPanel(log('reasoning-then-open-text'));
    expect(container.textContent).not.toContain('wants a plot');
    fireEvent.click(button('Thought process'));
    expect(container.textContent).toContain('The user wants a plot.');
  });

  test('a long message is clamped', async () => {
    const events = log('streamed-text').map(event =>
      event.type === 'message-add'
        ? { ...event, text: 'line\n'.repeat(9) }
        : event
    );
    const { container } = await showPanel(events);
    expect(container.querySelector('.shoulders-mod-clamped')).toBeTruthy();
    fireEvent.click(button('Show more'));
    expect(container.querySelector('.shoulders-mod-clamped')).toBeNull();
  });

  test('a message’s context opens its document', async () => {
    const { host } = await showPanel(log('streamed-text'));
    fireEvent.click(screen.getByText('a.ipynb'));
    expect(host.done).toEqual([['target', { path: 'a.ipynb', cellId: 'c1' }]]);
  });
});

test('messages are reached from the input by keyboard', async () => {
  const { container } = await showPanel(log('streamed-text'));
  const user = userEvent.setup();
  const messages = [...container.querySelectorAll('.shoulders-Message')];
  field().focus();
  await user.keyboard('{PageUp}');
  expect(document.activeElement).toBe(messages.at(-1));
  await user.keyboard('{ArrowUp}');
  expect(document.activeElement).toBe(messages.at(-2));
  field().focus();
  const list = screen.getByRole('log', { name: 'Conversation' });
  for (let tabs = 0; tabs < 20 && document.activeElement !== list; tabs++) {
    await user.tab({ shift: true });
  }
  expect(document.activeElement).toBe(list);
  await user.keyboard('{ArrowUp}');
  expect(document.activeElement).toBe(messages.at(-1));
  for (let tabs = 0; tabs < 20 && document.activeElement !== field(); tabs++) {
    await user.tab();
  }
  expect(document.activeElement).toBe(field());
});

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
    expect(server.asked.at(-1)).toEqual([
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
    expect(server.asked.at(-1)?.[3]).toEqual({
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
    expect(server.asked.at(-1)).toEqual([
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
    expect(server.asked.at(-1)?.[0]).toBe('sendMessage');
  });

  test('an error that was gone on from cannot be tried again', async () => {
    await showPanel(log('error-exit'));
    expect(screen.getByRole('alert')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
  });

  test('an interrupted turn can go on', async () => {
    const { server } = await showPanel(log('interrupted'));
    fireEvent.click(button('Resume'));
    expect(server.asked.at(-1)).toEqual([
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
    expect(server.asked.at(-1)).toEqual(['cancel', 's1']);
  });

  test('queued messages can be changed and removed', async () => {
    const { server } = await showPanel(log('queued-messages'));
    const user = userEvent.setup();
    const queue = screen.getByRole('list', { name: 'Queued messages' });
    expect(queue.textContent).toBe('Queuedlater');
    await user.click(within(queue).getByRole('button', { name: 'Edit' }));
    await user.keyboard(' today{Enter}');
    expect(server.asked.at(-1)).toEqual([
      'editMessage',
      's1',
      'm4',
      'later today'
    ]);
    await user.click(within(queue).getByRole('button', { name: 'Remove' }));
    expect(server.asked.at(-1)).toEqual(['removeMessage', 's1', 'm4']);
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

describe('the input', () => {
  test('sends what was typed before the page has drawn it', async () => {
    const { server, conversations } = await showPanel();
    const input = field() as HTMLTextAreaElement;
    await act(() => {
      input.value = 'typed just now';
      fireEvent.keyDown(input, { key: 'Enter' });
    });
    expect(server.asked).toContainEqual([
      'sendMessage',
      expect.anything(),
      expect.objectContaining({ text: 'typed just now' })
    ]);
    expect(conversations.draft(conversations.active.key)).toBe('');
  });

  test('sends on Enter with the context, not on Shift+Enter', async () => {
    const { server, host } = await showPanel();
    await act(() =>
      host.look({
        document: 'dir/a.ipynb',
        cell: { id: 'c1', number: 3, hasError: false },
        openDocuments: ['dir/a.ipynb', 'b.py']
      })
    );
    const user = userEvent.setup();
    await user.click(field());
    await user.keyboard('one{Shift>}{Enter}{/Shift}two');
    expect(server.asked.map(([name]) => name)).not.toContain('sendMessage');
    await user.keyboard('{Enter}');
    await act(() => {});
    const sent = server.asked.find(([name]) => name === 'sendMessage');
    expect(sent?.[2]).toMatchObject({
      text: 'one\ntwo',
      mode: 'ask',
      model: 'demo/demo',
      context: {
        active_document: 'dir/a.ipynb',
        active_cell_id: 'c1',
        selection: null,
        open_documents: ['dir/a.ipynb', 'b.py']
      }
    });
    expect(field()).toHaveProperty('value', '');
  });

  test('what the user leaves out is not sent', async () => {
    const { server, host } = await showPanel();
    await act(() => host.look({ document: 'a.ipynb' }));
    fireEvent.click(button('Remove a.ipynb'));
    fireEvent.change(field(), { target: { value: 'hi' } });
    fireEvent.keyDown(field(), { key: 'Enter' });
    await act(() => {});
    const sent = server.asked.find(([name]) => name === 'sendMessage');
    expect(sent?.[2]).toMatchObject({ context: null });
  });

  test('Enter while composing a character does not send', async () => {
    const { server } = await showPanel();
    fireEvent.change(field(), { target: { value: 'に' } });
    fireEvent.keyDown(field(), { key: 'Enter', isComposing: true });
    expect(server.asked.map(([name]) => name)).not.toContain('sendMessage');
  });

  test('a message that is not taken stays, to be sent again', async () => {
    const { server, container } = await showPanel(log('streamed-text'));
    server.fail({ message: 'Unplugged.' });
    fireEvent.change(field(), { target: { value: 'more' } });
    fireEvent.keyDown(field(), { key: 'Enter' });
    await act(() => {});
    expect(container.textContent).toContain('Unplugged.');
    fireEvent.click(button('Send again'));
    await act(() => {});
    expect(container.textContent).not.toContain('Unplugged.');
    expect(container.textContent).toContain('more');
  });
});

describe('before the first message', () => {
  test('ideas fit what is open and pre-fill the input', async () => {
    const { host, container } = await showPanel([], server => {
      const models = [model('p/best', { provider: 'p' })];
      server.modelList = { ...server.modelList, models, default: 'p/best' };
    });
    await act(() =>
      host.look({
        document: 'a.ipynb',
        cell: { id: 'c', number: 1, hasError: true }
      })
    );
    const ideas = container.querySelectorAll('.shoulders-Idea');
    expect(ideas).toHaveLength(4);
    fireEvent.click(button('Explain this error and fix it'));
    expect(field()).toHaveProperty('value', 'Explain this error and fix it');
  });

  test('without a model there are three ways on', async () => {
    const { host } = await showPanel([], server => {
      server.serverStatus = { ...status, models: 'none' };
      server.modelList = {
        models: [model('demo/demo')],
        default: null,
        default_set: false,
        default_is_stand_in: false,
        single_calls: [],
        problems: [],
        providers: [
          {
            id: 'anthropic',
            name: 'Anthropic',
            kind: 'anthropic',
            key_set: false,
            key_last4: null,
            key_source: 'none',
            key_name: 'ANTHROPIC_API_KEY',
            needs_key: true,
            host: 'api.anthropic.com',
            local: false,
            state: 'no_key',
            error: null,
            custom: false
          }
        ]
      };
    });
    const ways = screen.getAllByRole('heading', { level: 3 });
    expect(ways).toHaveLength(3);
    fireEvent.change(screen.getByLabelText('Key'), {
      target: { value: 'sk-1' }
    });
    fireEvent.click(button('Save and test'));
    await act(() => {});
    expect(host.done).toEqual([['key', 'anthropic', 'sk-1', false]]);
    expect(screen.getByLabelText('Key')).toHaveProperty('value', '');
  });
});

describe('several conversations', () => {
  test('each keeps its draft', async () => {
    const { conversations } = await showPanel(log('streamed-text'));
    fireEvent.change(field(), { target: { value: 'half' } });
    await act(() => conversations.create());
    expect(field()).toHaveProperty('value', '');
    await act(() => conversations.step(1));
    expect(field()).toHaveProperty('value', 'half');
  });
});

describe('the connection', () => {
  test('another version of the server asks for a reload', async () => {
    const { socket } = await showPanel();
    await act(() => socket.setStatus('reload'));
    expect(screen.getByRole('alert').textContent).toContain('Reload the page');
  });

  test('a log that cannot be read can be tried again', async () => {
    const { container } = await showPanel(log('streamed-text'), server => {
      const read = server.events.bind(server);
      let first = true;
      server.events = async (id, after) => {
        if (first) {
          first = false;
          throw new Error('gone');
        }
        return read(id, after);
      };
    });
    expect(screen.getByRole('alert').textContent).toContain('did not answer');
    fireEvent.click(button('Try again'));
    await act(() => {});
    expect(container.textContent).toContain('Hello world');
  });
});
