/** Agents of others: choosing and installing them, their options and commands, and what they report. */

import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as React from 'react';
import { describe, expect, test } from 'vitest';

import { model } from '../../../model/__tests__/fakes';
import { fixture } from '../../../model/__tests__/reducerFixtures';
import type {
  ActivityView,
  AgentInfo,
  AgentState,
  CallView,
  Event
} from '../../../wire/generated';
import { act, show, showPanel } from '../../__tests__/harness';
import {
  repeatsActivity,
  titleParts
} from '../../../model/view-models/agentActivities';
import { ActivityLine } from '../ActivityLine';

const agent = (id: string, change: Partial<AgentInfo> = {}): AgentInfo => ({
  id: `agent:${id}`,
  title: id,
  command: id,
  installed: true,
  install: `npm install -g ${id}`,
  source: 'known',
  problem: null,
  ...change
});

const activity = (change: Partial<ActivityView>): ActivityView => ({
  type: 'activity',
  activity_id: 'a1',
  title: 'Edit load.py',
  kind: 'edit',
  status: 'completed',
  locations: [],
  content: [],
  input: null,
  ...change
});

const state: AgentState = {
  type: 'agent-state',
  seq: 99,
  session_id: 's1',
  turn_id: null,
  at: '2026-11-29T05:00:00Z',
  agent: 'claude-code',
  agent_session: 'x',
  can_resume: true,
  mode: 'default',
  modes: [
    { id: 'default', name: 'Manual', description: 'Always asks' },
    { id: 'plan', name: 'Plan', description: null }
  ],
  options: [
    {
      id: 'model',
      name: 'Model',
      description: 'The model to use',
      category: 'model',
      value: 'opus',
      choices: [
        { id: 'opus', name: 'Opus', description: null },
        { id: 'haiku', name: 'Haiku', description: null }
      ]
    }
  ],
  commands: [
    { name: 'review', description: 'Review changes', hint: '[branch]' },
    { name: 'model', description: 'Hidden by ours', hint: null }
  ],
  context_used: 20_000,
  context_size: 200_000
};

const button = (name: string | RegExp) => screen.getByRole('button', { name });
const titles = () =>
  screen
    .getAllByRole('option')
    .map(each => each.querySelector('.shoulders-Choice-title')?.textContent);

async function openPicker(...agents: AgentInfo[]) {
  const shown = await showPanel([], (server, host) => {
    server.modelList = {
      ...server.modelList,
      default: 'demo/demo',
      models: [model('demo/demo')]
    };
    host.agents = { agents, problem: null };
  });
  await userEvent.click(button(/demo|Choose a model/));
  return shown;
}

describe('the list of models', () => {
  test('has agents in a group, and those to install below one line', async () => {
    await openPicker(agent('Codex'), agent('Gemini', { installed: false }));
    const group = screen.getByRole('group', { name: 'Agents' });
    expect(within(group).getAllByRole('option')).toHaveLength(2);
    expect(titles()).toEqual([
      expect.anything(),
      'Codex',
      '1 agent can be installed'
    ]);
  });

  test('names the chosen agent', async () => {
    await openPicker(agent('Codex'));
    await userEvent.click(screen.getByText('Codex'));
    expect(button(/Codex/).title).toBe('Agent: Codex');
  });

  test('copies the command that installs an agent', async () => {
    const { host } = await openPicker(agent('Gemini', { installed: false }));
    await userEvent.click(screen.getByText('1 agent can be installed'));
    await userEvent.click(screen.getByText('Gemini'));
    expect(host.done).toContainEqual(['copy', 'npm install -g Gemini']);
    expect(screen.getByText(/^Copied; run it/)).not.toBeNull();
  });

  test('finds agents to install by name', async () => {
    await openPicker(agent('Gemini', { installed: false }));
    await userEvent.type(screen.getByLabelText('Search models'), 'gem');
    expect(titles()).toEqual(['Gemini']);
  });

  test('does not let an agent with a problem be chosen', async () => {
    await openPicker(agent('Codex', { problem: 'It is too old.' }));
    const option = screen.getByText('Codex').closest('[role=option]');
    expect(option?.getAttribute('aria-disabled')).toBe('true');
    expect(option?.textContent).toContain('It is too old.');
  });
});

/** A conversation that an agent leads. */
async function led() {
  const events = fixture('streamed-text').events.map((event): Event => {
    if (event.type !== 'session-create' && event.type !== 'session-update') {
      return event;
    }
    return {
      ...event,
      session: { ...event.session, model: 'agent:claude-code' }
    };
  });
  const last = events.at(-1)?.seq ?? 0;
  return showPanel([...events, { ...state, seq: last + 1 }]);
}

describe('a conversation with an agent', () => {
  test('offers the mode and options of the agent, the mode first', async () => {
    const { server } = await led();
    await userEvent.click(button('Options of the agent: Manual · Opus'));
    const dialog = screen.getByRole('dialog', { name: 'Options of the agent' });
    const mode = within(dialog).getByRole('combobox', { name: 'Mode' });
    const chosen = within(dialog).getByRole('combobox', { name: 'Model' });
    expect(document.activeElement).toBe(mode);
    expect(within(dialog).getByText('Always asks')).not.toBeNull();
    await userEvent.selectOptions(mode, 'plan');
    await userEvent.selectOptions(chosen, 'haiku');
    const path = 'sessions/s1/agent';
    expect(server.requests.filter(([name]) => name === 'call')).toEqual([
      ['call', 'PATCH', path, { mode: 'plan', option: null, value: null }],
      ['call', 'PATCH', path, { mode: null, option: 'model', value: 'haiku' }]
    ]);
    await userEvent.keyboard('{Escape}');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  test('offers the commands of the agent, and sends them as they are', async () => {
    const { server } = await led();
    const field = screen.getByPlaceholderText(/…$/);
    await act(() => void fireEvent.change(field, { target: { value: '/' } }));
    expect(titles()).toContain('/review');
    expect(titles().filter(title => title === '/model')).toHaveLength(1);
    expect(titles()).not.toContain('/compact');
    await act(
      () => void fireEvent.change(field, { target: { value: '/review main' } })
    );
    await act(() => void fireEvent.keyDown(field, { key: 'Enter' }));
    expect(JSON.stringify(server.requests.at(-1))).toContain('/review main');
  });

  test('shows the context as the agent reports it', async () => {
    await led();
    expect(button(/^Context: 20/).title).toContain('200');
  });
});

test.each([
  ['Edit src/load.py', ['src/load.py'], ['Edit ', 'src/load.py', '']],
  ['Edit load.py now', ['src/load.py'], ['Edit ', 'load.py', ' now']],
  ['Edit files', ['src/load.py'], ['Edit files', '', '']],
  ['Compare a.py', ['b.py', 'a.py'], ['Compare ', 'a.py', '']]
])('the title %s with %s is split at the file', (title, paths, expected) => {
  const { before, file, after } = titleParts(title, paths);
  expect([before, file, after]).toEqual(expected);
});

test.each([
  ['agent_may_edit', 'ok', 'a.py', true],
  ['agent_may_edit', 'denied', 'a.py', false],
  ['agent_read_file', 'ok', 'a.py', true],
  ['agent_read_file', 'ok', 'b.py', false],
  ['agent_write_file', 'ok', 'a.py', false],
  ['read_file', 'ok', 'a.py', false]
] as const)(
  'the call %s, %s, of %s beside an activity of a.py is left out: %s',
  (tool, call, path, expected) => {
    const view = { tool, state: call, arguments: { path } };
    const beside = activity({ locations: ['a.py'] });
    expect(repeatsActivity(view as unknown as CallView, [beside])).toBe(
      expected
    ); // The fields that matter.
  }
);

describe('an activity', () => {
  test('links its files, and shows its differences when it is open', async () => {
    const { host } = show(
      <ActivityLine
        last
        activity={activity({
          locations: ['src/load.py'],
          content: [
            { type: 'text', text: '```console\nDone\n```' },
            { type: 'diff', path: 'src/load.py', old: 'a\n', new: 'b\n' },
            { type: 'terminal', call_id: 'c1' }
          ]
        })}
      />
    );
    await userEvent.click(screen.getByRole('link', { name: 'load.py' }));
    expect(host.done).toEqual([['target', { path: 'src/load.py' }]]);
    expect(screen.queryByText('Done')).toBeNull();
    await userEvent.click(button('Edit load.py'));
    expect(screen.getByText('Done')).not.toBeNull();
    expect(
      screen.getByLabelText('1 lines added, 1 removed').textContent
    ).toContain('b');
  });

  test('that failed says so to screen readers, too', () => {
    const failed = activity({ title: 'Run tests', status: 'failed' });
    show(<ActivityLine activity={failed} last />);
    expect(button('Run tests failed')).not.toBeNull();
  });

  test('links no files outside the workspace', () => {
    show(
      <ActivityLine activity={activity({ locations: ['/etc/hosts'] })} last />
    );
    expect(screen.queryByRole('link')).toBeNull();
    expect(screen.getByText('hosts').title).toBe('/etc/hosts');
  });

  test('that did not end with its turn is stopped', () => {
    const begun = activity({ title: 'Run tests', status: 'in_progress' });
    show(<ActivityLine activity={begun} last />);
    expect(screen.getByText('stopped')).not.toBeNull();
  });

  test('with nothing to show does not expand', () => {
    show(<ActivityLine activity={activity({ title: 'Wait' })} last />);
    expect(button('Wait').hasAttribute('aria-expanded')).toBe(false);
  });
});
