/** Lines of tool calls, their details, approvals, and messages that wait. */

import { Signal } from '@lumino/signaling';
import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { fixture } from '../../model/__tests__/fixtures';
import type {
  Anchor,
  ApprovalRequest,
  Event,
  ToolCall
} from '../../wire/generated';
import type { ILiveTexts } from '../host-threads';
import { act, showPanel } from './harness';

const button = (name: string | RegExp) => screen.getByRole('button', { name });

/** One open text. */
class FakeTexts implements ILiveTexts {
  readonly changed = new Signal<this, void>(this);
  private text: string | null | undefined = undefined;

  textOf(): string | null | undefined {
    return this.text;
  }

  tell(text: string | null): void {
    this.text = text;
    this.changed.emit();
  }
}

/** The log of a waiting approval, with another call and request. */
function asking(
  call: Partial<ToolCall>,
  request: Partial<ApprovalRequest>
): Event[] {
  return fixture('approval-pending').events.map(event => {
    if (event.type === 'tool-call') {
      return { ...event, ...call };
    }
    return event.type === 'approval-request' ? { ...event, ...request } : event;
  });
}

describe('an approval', () => {
  test('offers every scope by what it reaches', async () => {
    const { server } = await showPanel(
      asking(
        {},
        {
          arguments: { path: 'a.ipynb', cell_id: 'c1' },
          scopes: ['once', 'document', 'session', 'always']
        }
      )
    );
    await userEvent.click(button('Allow…'));
    const items = screen.getAllByRole('menuitem');
    expect(items.map(item => item.textContent)).toEqual([
      'For this notebookThis tool, on a.ipynb',
      'In this conversationEvery call of this tool',
      'AlwaysThis tool, on a.ipynb'
    ]);
    await userEvent.click(screen.getByRole('menuitem', { name: /notebook/ }));
    expect(server.asked.at(-1)?.[3]).toEqual({
      decision: 'allow',
      scope: 'document'
    });
  });

  test('names what leaves the computer, and commands by their beginning', async () => {
    await showPanel(
      asking(
        { external: true },
        {
          arguments: { command: 'git diff HEAD' },
          preview: 'git diff HEAD',
          language: 'bash',
          scopes: ['once', 'session'],
          reach: { command: 'git diff', exact: false }
        }
      )
    );
    expect(screen.getByText('external')).toBeTruthy();
    await userEvent.click(button('Allow…'));
    expect(screen.getByRole('menuitem').textContent).toBe(
      'In this conversationCommands that begin with “git diff” and only read'
    );
  });

  test('shows the exact command it would store, shortened, with all of it in the title', async () => {
    const command = `python3 -c '${'x'.repeat(200)}'`;
    await showPanel(
      asking(
        {},
        {
          arguments: { command },
          preview: command,
          scopes: ['once', 'always'],
          reach: { command, exact: true }
        }
      )
    );
    await userEvent.click(button('Allow…'));
    const note = screen
      .getByRole('menuitem')
      .querySelector('.shoulders-Menu-note');
    expect(note?.textContent).toBe(
      `Only this command: ${command.slice(0, 100)}…`
    );
    expect(note?.getAttribute('title')).toBe(`Only this command: ${command}`);
  });

  test('spells out what hides in its title, its reason and its arguments', async () => {
    await showPanel(
      asking(
        { title: 'Run \u202ecell' },
        {
          arguments: { note: 'a\u200bb', 'na\u202eme': 1 },
          preview: null,
          reason: { kind: 'rule', text: 'says\u200bso' }
        }
      )
    );
    const card = screen.getByRole('region', { name: /Run ⟨U\+202E⟩cell/ });
    for (const text of ['a⟨U+200B⟩b', 'na⟨U+202E⟩me', 'Says⟨U+200B⟩so.']) {
      expect(within(card).getByText(text)).toBeTruthy();
    }
  });
});

describe('the details of an edit', () => {
  test('show the difference, and its exact arguments on a click', async () => {
    const { events } = fixture('approval-allow');
    const edited = events.map(event =>
      event.type === 'tool-call'
        ? {
            ...event,
            arguments: {
              path: 'a.ipynb',
              cell_id: 'c1',
              old_string: 'x = 1',
              new_string: 'x = 2'
            }
          }
        : event
    );
    const { container } = await showPanel(edited);
    fireEvent.click(
      container.querySelector('.shoulders-Call > button') ?? container
    );
    expect(container.querySelector('.shoulders-Diff')?.textContent).toBe(
      '−x = 1+x = 2'
    );
    expect(screen.queryByText('old_string')).toBeNull();
    fireEvent.click(button('Exact arguments'));
    expect(screen.getByText('old_string')).toBeTruthy();
  });
});

describe('a message that waits', () => {
  const consumed = (): Event[] => {
    const { events } = fixture('queued-messages');
    return events.flatMap(event =>
      event.type === 'message-update' && event.status === 'consumed'
        ? [{ ...event, seq: events.length + 1, message_id: 'm4' }]
        : []
    );
  };

  test('that is read while it is being changed leaves what was typed in the input', async () => {
    const { events } = fixture('queued-messages');
    const { socket, conversations } = await showPanel(events);
    const user = userEvent.setup();
    await user.click(button('Edit'));
    await user.keyboard(', please');
    await act(() => socket.deliver(consumed()));
    expect(screen.queryByRole('list', { name: 'Queued messages' })).toBeNull();
    expect(conversations.draft(conversations.active.key)).toBe('later, please');
  });

  test('whose change comes too late leaves it in the input, and Esc changes nothing', async () => {
    const { server, conversations } = await showPanel(
      fixture('queued-messages').events
    );
    const user = userEvent.setup();
    await user.click(button('Edit'));
    await user.keyboard(' today{Escape}');
    expect(server.asked.some(([name]) => name === 'editMessage')).toBe(false);
    await user.click(button('Edit'));
    const field = screen.getByRole('textbox', { name: 'Queued message' });
    fireEvent.change(field, { target: { value: 'later\nor not' } });
    server.fail({ code: 'conflict' }, 409);
    await user.keyboard('{Enter}');
    await act(() => {});
    expect(server.asked.at(-1)?.[3]).toBe('later\nor not');
    expect(conversations.draft(conversations.active.key)).toBe('later\nor not');
  });
});

describe('a proposal', () => {
  const proposed = (): Event[] =>
    fixture('proposal').events.filter(
      ({ type }) => type !== 'proposal-resolve'
    );

  test('is applied and run, as the user has changed it', async () => {
    const { server } = await showPanel(proposed());
    const user = userEvent.setup();
    await user.click(button('Edit…'));
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', {
      name: 'The text to apply'
    });
    const before = field.value;
    await user.type(field, '!');
    await user.click(button('Apply and run'));
    expect(server.asked.at(-1)).toEqual([
      'decideProposal',
      'q1',
      {
        decision: 'apply',
        text: `${before}!`,
        run: true
      }
    ]);
  });

  test('that was not changed after all is applied as it is', async () => {
    const { server } = await showPanel(proposed());
    const user = userEvent.setup();
    await user.click(button('Edit…'));
    await user.keyboard('typed{Escape}');
    expect(screen.queryByRole('textbox', { name: /apply/ })).toBeNull();
    await user.click(button('Apply'));
    expect(server.asked.at(-1)).toEqual([
      'decideProposal',
      'q1',
      { decision: 'apply' }
    ]);
  });

  test('of a thread is of its document as that is called now', async () => {
    const anchor: Anchor = {
      ...{ document: 'work/renamed.ipynb', cell_id: 'c1', target: 'cell' },
      ...{ range: null, quote: '', prefix: '', suffix: '', version: null },
      certainty: 'exact',
      output: null
    };
    const pinned = proposed().map(event =>
      event.type === 'session-create' || event.type === 'session-update'
        ? { ...event, session: { ...event.session, anchor } }
        : event
    );
    const { container } = await showPanel(pinned);
    const target = container.querySelector(
      '.shoulders-Proposal .shoulders-Call-target'
    );
    expect(target).toHaveProperty('title', 'work/renamed.ipynb');
  });

  test('keeps what was made of its text through another tab, until it is decided', async () => {
    const { conversations, socket } = await showPanel(proposed());
    const { key } = conversations.active;
    const field = (): HTMLElement | null =>
      screen.queryByRole('textbox', { name: 'The text to apply' });
    fireEvent.click(button('Edit…'));
    expect(document.activeElement).toBe(field());
    fireEvent.change(field() ?? document.body, { target: { value: 'mine' } });
    await act(() => conversations.create());
    expect(field()).toBeNull();
    await act(() => conversations.activate(key));
    expect(field()).toHaveProperty('value', 'mine');
    expect(document.activeElement).not.toBe(field());
    await act(() =>
      socket.deliver(
        fixture('proposal').events.filter(
          ({ type }) => type === 'proposal-resolve'
        )
      )
    );
    expect(conversations.edit(key, 'q1')).toBeNull();
  });

  test('that came to nothing has still what was made of its text', async () => {
    const { conversations, socket } = await showPanel(proposed());
    const { key } = conversations.active;
    fireEvent.click(button('Edit…'));
    fireEvent.change(screen.getByRole('textbox', { name: /to apply/ }), {
      target: { value: 'mine' }
    });
    const [decided] = fixture('proposal').events.filter(
      ({ type }) => type === 'proposal-resolve'
    );
    await act(() => socket.deliver([{ ...decided, state: 'stale' } as Event]));
    await act(() => conversations.create());
    await act(() => conversations.activate(key));
    fireEvent.click(screen.getByText('What was proposed'));
    expect(conversations.edit(key, 'q1')).toBe('mine');
    expect(screen.getByText('mine')).toBeTruthy();
  });

  test('says while nobody has decided that its text moved on', async () => {
    const texts = new FakeTexts();
    await showPanel(proposed(), (_, host) => {
      host.texts = texts;
    });
    const said = (): boolean[] =>
      [/changed since this was proposed/, /The cell is gone/].map(
        words => screen.queryByText(words) !== null
      );
    expect(said()).toEqual([false, false]); // Its notebook is not open.
    for (const [text, words] of [
      ['something else', [true, false]],
      ['x = 10', [false, false]],
      [null, [false, true]]
    ] as const) {
      await act(() => texts.tell(text));
      expect(said()).toEqual(words);
    }
  });
});
