/** The sections of the settings page. */

import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { provider, REFUSED, row, tool } from './fakes';
import { act, press, show } from './renderSettings';

const field = (name: string) => screen.getByRole('textbox', { name });
const chosen = (name: string) =>
  screen.getByRole<HTMLSelectElement>('combobox', { name });

describe('providers', () => {
  test('a wrong key is not saved, and only the user saves it all the same', async () => {
    const { api, user } = await show('providers', ({ catalogue }) => {
      catalogue.providers = [provider('acme', { key_set: true, state: 'ok' })];
    });
    api.saved = REFUSED;
    const key = screen.getByLabelText('New key for Name of acme');
    await user.type(key, 'wrong-1234');

    await press(user, 'Save and test');
    const alert = screen.getByRole('alert');
    expect(alert.textContent).toContain('The key was not accepted.');
    expect(alert.textContent).toContain('The key you had is still in use.');
    expect(key).toHaveProperty('value', 'wrong-1234');

    await press(user, 'Save anyway');
    expect(api.asked).toContainEqual(['setKey', 'acme', 'wrong-1234']);
    expect(screen.queryByRole('alert')).toBeNull();
  });

  test('a key that works is saved, with the result beside its field', async () => {
    const { user } = await show('providers');
    const key = screen.getByLabelText('Key for Name of acme');
    await user.type(key, 'secret-1234');
    await press(user, 'Save and test');
    const result = screen.getByRole('status', { name: 'Test of Name of acme' });
    expect(result.textContent).toContain('passed');
    expect(result.textContent).toContain('acme/big');
  });

  test('a key that was refused stays typed, and is stored the second time', async () => {
    const { api, user } = await show('providers');
    const key = screen.getByLabelText('Key for Name of acme');
    await user.type(key, 'secret-1234');
    api.fail({ message: 'This is not a key.' });

    await press(user, 'Save and test');
    expect(screen.getByRole('alert').textContent).toContain('not a key');
    expect(key).toHaveProperty('value', 'secret-1234');

    await press(user, 'Save and test');
    expect(screen.getByText(/key set: ····1234/)).toBeTruthy();
    expect(screen.getByLabelText('New key for Name of acme')).toHaveProperty(
      'value',
      ''
    );
  });

  test('a test says how long it took, or which of the two is broken', async () => {
    const { api, user } = await show('providers', server => {
      const acme = provider('acme', { key_set: true, state: 'ok' });
      server.catalogue = { ...server.catalogue, providers: [acme] };
    });
    await press(user, 'Test');
    const result = screen.getByRole('status', { name: /^Test of/ });
    expect(result.textContent).toContain('first words after 0.3 s');
    expect(result.textContent).toContain('tool calls: works');

    api.result = { ...api.result, ok: false, tool_call_ok: false };
    await press(user, 'Test');
    expect(result.textContent).toContain('tool calls: broken');
  });

  test('one that nothing is known of is asked once; a local one that is off is no failure', async () => {
    const { api } = await show('providers', server => {
      const here = provider('here', {
        local: true,
        needs_key: false,
        state: 'failing',
        error: {
          code: 'provider_unreachable',
          message: 'Nothing answers.',
          hint: 'Start it.',
          retryable: true,
          details: null,
          provider: 'here',
          model: null,
          request_id: null
        }
      });
      const acme = provider('acme', { key_set: true, state: 'unknown' });
      server.catalogue = { ...server.catalogue, providers: [here, acme] };
    });

    expect(api.asked.filter(([what]) => what === 'check')).toHaveLength(1);
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('preferences', () => {
  test('are stored when chosen, for this folder or for all', async () => {
    const { api, user } = await show('models');

    await user.selectOptions(chosen('Prefer'), 'local');
    await act();
    await user.click(screen.getByRole('radio', { name: 'All my folders' }));
    await user.selectOptions(chosen('If none of them can answer'), 'none');
    await act();

    expect(api.asked).toEqual([
      [
        'putSettings',
        { models: { mode: 'local' }, revision: 'r0' },
        'workspace'
      ],
      ['putSettings', { models: { fallback: 'none' }, revision: 'r1' }, 'user']
    ]);
  });

  test('one that is chosen again while it is being stored is stored as chosen last', async () => {
    const { api, user } = await show('models');
    const put = api.putSettings.bind(api);
    let go = (): void => undefined;
    const gate = new Promise<void>(resolve => {
      go = resolve;
    });
    api.putSettings = async (...given) => {
      await gate;
      return put(...given);
    };

    await user.selectOptions(chosen('Prefer'), 'local');
    await user.selectOptions(chosen('Prefer'), 'remote');
    go();
    await waitFor(() => expect(api.held.values.models.mode).toBe('remote'));
    expect(chosen('Prefer').value).toBe('remote');
  });

  test('one that cannot be stored keeps the choice and tries again', async () => {
    const { api, user } = await show('models');
    api.fail({ message: 'The disk is full.' });

    await user.selectOptions(chosen('Prefer'), 'local');
    await act();
    expect(screen.getByRole('alert').textContent).toContain('disk is full');
    expect(chosen('Prefer').value).toBe('local');
    expect(api.held.values.models.mode).toBe('auto');

    await press(user, 'Try again');
    expect(api.held.values.models.mode).toBe('local');
    expect(screen.queryByRole('alert')).toBeNull();
  });

  test('what is typed is saved with Enter, taken back with Esc, and outlives a look elsewhere', async () => {
    const { api, user } = await show('models');
    const time = () => field('Time limit for small tasks');
    await user.clear(time());
    await user.type(time(), 'soon');
    expect(screen.getByText('A number up to 3600.')).toBeTruthy();
    await user.type(time(), '{Enter}');
    expect(api.asked).toEqual([]);

    await press(user, 'Budget');
    expect(screen.getByText('1 unsaved change.')).toBeTruthy();
    await press(user, 'Models');
    expect(time()).toHaveProperty('value', 'soon');
    await user.type(time(), '{Escape}');
    expect(time()).toHaveProperty('value', '30');

    await user.clear(time());
    await user.type(time(), '45{Enter}');
    await act();
    expect(api.held.values.models.single_call_timeout_s).toBe(45);
    expect(screen.queryByText('1 unsaved change.')).toBeNull();
  });

  test('a value stored by another page during editing is shown, and the user decides', async () => {
    const { api, socket, user } = await show('models');
    const address = () => field('Address of Ollama');
    await user.type(address(), '/v1');
    const models = { ...api.held.values.models, ollama_host: 'http://gpu:1' };
    api.elsewhere('held', { values: { ...api.held.values, models } });
    const news = { type: 'settings-update', part: 'settings' } as const;
    await act(() => socket.frameReceived.emit(news));

    expect(screen.getByRole('alert').textContent).toContain('http://gpu:1');
    expect(address()).toHaveProperty('value', 'http://127.0.0.1:11434/v1');
    await user.type(address(), '{Enter}');
    await act();
    expect(api.held.values.models.ollama_host).toBe('http://gpu:1');

    await press(user, 'Keep mine');
    await press(user, 'Save');
    expect(api.held.values.models.ollama_host).toBe(
      'http://127.0.0.1:11434/v1'
    );
  });

  test('one the administrator set is locked, with the reason', async () => {
    await show('privacy', api => {
      const name = 'egress.data_values';
      api.held = {
        ...api.held,
        sources: { [name]: 'administrator' },
        locks: { [name]: 'It comes from Shoulders.settings.' }
      };
    });

    expect(chosen('Values of variables')).toHaveProperty('disabled', true);
    expect(
      screen.getByText(/Locked by your administrator.*Shoulders\.settings/)
    ).toBeTruthy();
  });

  test('threads are kept in notebooks once that is switched on', async () => {
    const { api, user } = await show('privacy');

    await user.click(
      screen.getByRole('switch', { name: 'Store threads in the notebook' })
    );
    await act();

    expect(api.held.values.threads.keep_in_notebook).toBe(true);
  });

  test('one of this folder is reset, and not changed for all folders', async () => {
    const { api, user } = await show('tools', server => {
      const sources = { 'commands.mode': 'workspace' } as const;
      server.held = { ...server.held, sources };
    });

    await press(user, 'Reset');
    expect(api.asked).toEqual([
      ['putSettings', { commands: { mode: null }, revision: 'r0' }, 'workspace']
    ]);
    await user.click(screen.getByRole('radio', { name: 'All my folders' }));
    expect(chosen('The agent’s commands run')).toHaveProperty('disabled', true);
  });
});

describe('tools', () => {
  test('are switched by category, with badges for what nothing holds and what reaches out', async () => {
    const { api, user } = await show('tools', server => {
      const tools = [
        tool('run_cell', { risk: 'execute', sandboxed: false }),
        tool('fetch_url', { category: 'web', external: true }),
        tool('run_command', { off_because: 'settings', enabled: false })
      ];
      server.list = { ...server.list, tools };
    });
    expect(
      screen.getByRole('heading', { name: 'Notebooks and kernels' })
    ).toBeTruthy();
    expect(screen.getByRole('heading', { name: 'Web' })).toBeTruthy();
    expect(screen.getByText('unsandboxed')).toBeTruthy();
    expect(screen.getByText('external')).toBeTruthy();
    expect(screen.getByRole('switch', { name: 'run_command' })).toHaveProperty(
      'disabled',
      true
    );

    await user.click(screen.getByRole('switch', { name: 'run_cell' }));
    await act();
    await user.click(
      screen.getByRole('switch', { name: 'Disable all external tools' })
    );
    await act();

    expect(api.list.disabled).toEqual(['run_cell']);
    expect(api.list.disable_external).toBe(true);
  });
});

describe('rules', () => {
  test('one is added, refused, corrected, moved and removed', async () => {
    const { api, user } = await show('rules');
    await press(user, 'Add a rule…');
    const form = screen.getByRole('form', { name: 'New rule' });
    await user.type(within(form).getByLabelText('Tool'), 'run_command');
    await user.selectOptions(
      within(form).getByLabelText('When it applies'),
      'command'
    );
    await user.type(within(form).getByLabelText('Pattern'), 'git diff');
    api.fail({ message: 'Rule 1 is invalid.' });
    await press(user, 'Save');
    expect(within(form).getByRole('alert').textContent).toContain('invalid');
    expect(within(form).getByLabelText('Pattern')).toHaveProperty(
      'value',
      'git diff'
    );

    await press(user, 'Save');
    expect(api.list.rules).toMatchObject([
      { action: 'ask', tool: 'run_command', match: { command: 'git diff' } }
    ]);
    await press(user, 'Change: Ask run_command git diff');
    await user.selectOptions(
      screen.getByLabelText('What the rule does'),
      'deny'
    );
    await press(user, 'Save');
    expect(api.list.rules).toMatchObject([{ action: 'deny' }]);
    await press(user, 'Remove: Deny run_command git diff');
    expect(api.list.rules).toEqual([]);
  });

  test('the administrator’s are locked, and hidden characters of a pattern are shown', async () => {
    await show('rules', api => {
      const rule = {
        action: 'deny',
        tool: 'run_command',
        match: { command: 'rm\u202e' },
        examples: null,
        problem: null,
        line: null,
        locked: true,
        applies: true,
        note: null
      } as const;
      api.list = { ...api.list, rules: [rule] };
    });

    expect(screen.getByText('rm⟨U+202E⟩')).toBeTruthy();
    expect(screen.queryByRole('button', { name: /^Remove/ })).toBeNull();
  });
});

describe('budget', () => {
  test('a limit is saved by itself; one the administrator refuses stays typed', async () => {
    const { api, user } = await show('budget');
    await user.type(field('Per calendar month'), '20');
    api.fail({ message: 'Your administrator allows $5.' });
    await user.type(field('Per calendar month'), '{Enter}');
    await act();
    expect(screen.getByRole('alert').textContent).toContain('allows $5');
    expect(field('Per calendar month')).toHaveProperty('value', '20');

    await user.clear(field('Per calendar month'));
    await user.type(field('Per calendar month'), '5{Enter}');
    await act();
    expect(api.budget.limits[0]?.user_micro_usd).toBe(5_000_000);
    expect(field('Per calendar month')).toHaveProperty('value', '5.00');
  });
});

describe('usage', () => {
  test('is drawn by day and model, and written in tables', async () => {
    const { container, user } = await show('usage', api => {
      api.rows = [row('claude', { unknown_cost_calls: 1 })];
    });
    expect(screen.getByRole('img', { name: /No usage|Usage on/ })).toBeTruthy();
    expect(container.querySelector('.shoulders-Bars-value')?.textContent).toBe(
      '$2.00 and 1 call of unknown cost'
    );

    await press(user, 'Models as a table');
    expect(screen.getByRole('rowheader', { name: 'claude' })).toBeTruthy();
    expect(
      screen.getByRole('cell', { name: '$2.00 + 1 unknown' })
    ).toBeTruthy();
  });
});

test('the lab’s own settings and the instructions are a click away', async () => {
  const { done, user } = await show('instructions');

  await press(user, 'Write instructions');
  await press(user, 'Keyboard shortcuts…');
  await press(user, 'Appearance and layout…');

  expect(done).toEqual([
    ['instructions'],
    ['editor', 'shortcuts'],
    ['editor', 'preferences']
  ]);
});

test('what cannot be read says why, and is read again', async () => {
  const { user } = await show('approvals', api => {
    api.status = async () => Promise.reject(new Error('gone'));
    api.fail({ message: 'The log is locked.' });
  });
  expect(screen.getByText('The log is locked.')).toBeTruthy();

  await press(user, 'Try again');

  expect(screen.queryByText('The log is locked.')).toBeNull();
  expect(screen.getByText('No decisions yet.')).toBeTruthy();
});
