/** Tool call lines, details, approvals, and queued messages. */

import { Signal } from '@lumino/signaling';
import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { fixture } from '../../../model/__tests__/reducerFixtures';
import type {
  Anchor,
  ApprovalRequest,
  Event,
  ToolCall
} from '../../../wire/generated';
import type { IOpenDocumentTexts } from '../../../host/threadsHost';
import { act, showPanel } from '../../__tests__/harness';

const button = (name: string | RegExp) => screen.getByRole('button', { name });

/** One open text. */
class FakeTexts implements IOpenDocumentTexts {
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
    expect(button('Always for a.ipynb').title).toBe('This tool, on a.ipynb');
    await userEvent.click(button('Allow for less…'));
    const items = screen.getAllByRole('menuitem');
    expect(items.map(item => item.textContent)).toEqual([
      'For this notebookThis tool, on a.ipynb',
      'In this conversationAll calls of this tool'
    ]);
    await userEvent.click(screen.getByRole('menuitem', { name: /notebook/ }));
    expect(server.requests.at(-1)?.[3]).toEqual({
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
    expect(button('Allow “git diff …” in this conversation').title).toBe(
      'Commands that begin with “git diff” and only read'
    );
  });

  test('of a server’s tool names server and tool, its arguments and its hints', async () => {
    const { container } = await showPanel(
      asking(
        {
          tool: 'mcp__crm__find',
          title: 'Safe reading of the MCP server crm',
          target: 'crm',
          external: true
        },
        {
          tool: 'mcp__crm__find',
          arguments: { name: 'Ada' },
          preview: '{\n  "name": "Ada"\n}',
          language: null,
          reason: { kind: 'rule', text: 'Its server says that it only reads.' }
        }
      )
    );
    const card = container.querySelector('.shoulders-Approval');
    expect(card?.querySelector('header')?.textContent).toBe('crm · find');
    expect(card?.textContent).toContain('"name": "Ada"');
    expect(card?.textContent).toContain('Its server says that it only reads.');
    expect(button('Allow')).toBeTruthy();
  });

  test('allows a command always by exactly what it stores', async () => {
    const command = `python3 -c '${'x'.repeat(200)}'`;
    const { server } = await showPanel(
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
    const always = button('Always for exactly this command');
    expect(always.title).toBe(`Only this command: ${command}`);
    await userEvent.click(always);
    expect(server.requests.at(-1)?.[3]).toEqual({
      decision: 'allow',
      scope: 'always'
    });
  });

  test.each([
    ['run_cell', 'Run'],
    ['edit_file', 'Edit'],
    ['delete_file', 'Delete'],
    ['write_file', 'Write'],
    ['git_commit', 'Commit'],
    ['mcp__a__b', 'Allow']
  ])('of %s has a button that says %s', async (tool, verb) => {
    await showPanel(asking({ tool }, { tool }));
    expect(button(verb).className).toContain('mod-primary');
  });

  test.each([
    [['deletes_files', 'network'], 'Deletes filesUses the network'],
    [['dynamic_code'], 'Runs code built at run time'],
    [[], 'No files, network or shell seen'],
    [null, '']
  ] as const)('shows the effects %s in one line', async (effects, text) => {
    const { container } = await showPanel(
      asking({}, { effects: effects === null ? null : [...effects] })
    );
    const card = container.querySelector('.shoulders-Approval');
    const line = container.querySelector('.shoulders-Approval-effects');
    expect(line?.textContent).toBe(text);
    expect(card?.getAttribute('aria-describedby')).toBe(line?.id);
  });

  test('offers no more than once for a chain of commands', async () => {
    const command = 'ls && rm -rf build';
    const { container } = await showPanel(
      asking(
        {},
        {
          arguments: { command },
          preview: command,
          scopes: ['once'],
          reach: null
        }
      )
    );
    const buttons = container.querySelectorAll('.shoulders-Actions button');
    expect([...buttons].map(each => each.textContent)).toEqual([
      'Run',
      'No, do this instead…'
    ]);
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
      container.querySelector('.shoulders-Call button') ?? container
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
    expect(server.requests.some(([name]) => name === 'editMessage')).toBe(
      false
    );
    await user.click(button('Edit'));
    const field = screen.getByRole('textbox', { name: 'Queued message' });
    fireEvent.change(field, { target: { value: 'later\nor not' } });
    server.fail({ code: 'conflict' }, 409);
    await user.keyboard('{Enter}');
    await act(() => {});
    expect(server.requests.at(-1)?.[3]).toBe('later\nor not');
    expect(conversations.draft(conversations.active.key)).toBe('later\nor not');
  });
});

describe('a proposal', () => {
  const overlapping = (): Event[] =>
    fixture('proposal').events.filter(
      ({ type }) => type !== 'proposal-resolve'
    );
  const proposed = (): Event[] =>
    overlapping().map(event =>
      event.type === 'proposal-add'
        ? {
            ...event,
            proposal: { ...event.proposal, old: event.proposal.current }
          }
        : event
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
    expect(server.requests.at(-1)).toEqual([
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
    expect(server.requests.at(-1)).toEqual([
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

  test('shows its change on top of the text as it is', async () => {
    const texts = new FakeTexts();
    const { container } = await showPanel(proposed(), (_, host) => {
      host.texts = texts;
    });
    const lines = (): (string | null)[] =>
      [
        ...container.querySelectorAll(
          '.shoulders-Proposal .shoulders-Diff-line'
        )
      ].map(line => line.textContent);
    expect(lines()).toEqual(['−x = 10', '+x = 2']); // Its notebook is not open.
    await act(() => texts.tell('x = 10  # mine'));
    expect(lines()).toEqual(['−x = 10  # mine', '+x = 2  # mine']);
    await act(() => texts.tell(null));
    expect(screen.getByText(/The cell was deleted/)).toBeTruthy();
  });

  test('asks which text to keep where both changed the same words', async () => {
    const texts = new FakeTexts();
    const { server } = await showPanel(overlapping(), (_, host) => {
      host.texts = texts;
    });
    expect(screen.queryByRole('button', { name: 'Apply' })).toBeNull();
    await act(() => texts.tell('x = 11'));
    expect(button('Keep mine')).toBeTruthy();
    await userEvent.click(button('Use the agent’s text'));
    expect(server.requests.at(-1)).toEqual([
      'decideProposal',
      'q1',
      { decision: 'apply', text: 'x = 2', base: 'x = 11' }
    ]);
  });
});
