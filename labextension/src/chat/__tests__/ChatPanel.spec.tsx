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

describe('the input', () => {
  test('sends what was typed before the page has drawn it', async () => {
    const { server, conversations } = await showPanel();
    const input = field() as HTMLTextAreaElement;
    await act(() => {
      input.value = 'typed just now';
      fireEvent.keyDown(input, { key: 'Enter' });
    });
    expect(server.requests).toContainEqual([
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
    expect(server.requests.map(([name]) => name)).not.toContain('sendMessage');
    await user.keyboard('{Enter}');
    await act(() => {});
    const sent = server.requests.find(([name]) => name === 'sendMessage');
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
    const sent = server.requests.find(([name]) => name === 'sendMessage');
    expect(sent?.[2]).toMatchObject({ context: null });
  });

  test('Enter while composing a character does not send', async () => {
    const { server } = await showPanel();
    fireEvent.change(field(), { target: { value: 'に' } });
    fireEvent.keyDown(field(), { key: 'Enter', isComposing: true });
    expect(server.requests.map(([name]) => name)).not.toContain('sendMessage');
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
