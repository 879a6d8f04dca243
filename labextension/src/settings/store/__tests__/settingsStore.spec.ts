import { describe, expect, test } from 'vitest';

import { ApiError } from '../../../client/http';
import { FakeSocket, session, settled } from '../../../model/__tests__/fakes';
import type { Event, RuleBody } from '../../../wire/generated';
import { isChangedElsewhere } from '../conflict';
import { addRule, moveRule, replaceRule, switchTool } from '../permissions';
import { SettingsStore } from '../settingsStore';
import { FakeApi } from '../../__tests__/fakes';

const RULE: RuleBody = {
  action: 'ask',
  tool: 'git_*',
  match: null,
  examples: null
};

function made() {
  const api = new FakeApi();
  const socket = new FakeSocket();
  const store = new SettingsStore(api, socket, api.folder.store(socket));
  return { api, socket, store };
}

async function failureOf(work: Promise<unknown>): Promise<ApiError> {
  const failure: unknown = await work.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  return failure as ApiError; // Just checked.
}

describe('permissions', () => {
  test('a change is applied again to the settings that another page stored', async () => {
    const { api, store } = made();
    await store.tools.load();
    api.elsewhere('list', { disabled: ['git_commit'] });

    await store.changePermissions(switchTool('run_cell', false));

    expect(api.list.disabled).toEqual(['git_commit', 'run_cell']);
    expect(store.tools.value).toBe(api.list);
  });

  test('a rule that another page has removed is not put back', async () => {
    const { api, store } = made();
    await store.changePermissions(addRule(RULE));
    const changed = { ...RULE, action: 'deny' } as const;
    api.elsewhere('list', { rules: [] });

    const failure = await failureOf(
      store.changePermissions(replaceRule(RULE, changed))
    );
    await store.changePermissions(moveRule(RULE, 1));

    expect(isChangedElsewhere(failure)).toBe(true);
    expect(api.list.rules).toEqual([]);
  });

  test('the same rule twice is stored once', async () => {
    const { api, store } = made();

    await store.changePermissions(addRule(RULE));
    await store.changePermissions(addRule({ ...RULE }));

    expect(api.list.rules).toHaveLength(1);
  });

  test('what the server refuses for another reason is not tried again', async () => {
    const { api, store } = made();
    await store.tools.load();
    api.fail({ message: 'The disk is full.' });

    const failure = await failureOf(
      store.changePermissions(switchTool('run_cell', false))
    );

    expect(failure.message).toBe('The disk is full.');
    expect(api.asked).toHaveLength(1);
  });
});

describe('preferences', () => {
  test('another value that changed elsewhere stays as it is', async () => {
    const { api, store } = made();
    await store.settings.load();
    const egress = { data_values: 'full' } as const;
    api.elsewhere('held', { values: { ...api.held.values, egress } });

    await store.putSetting('models', 'mode', 'local', 'auto', 'workspace');

    expect(api.held.values.models.mode).toBe('local');
    expect(api.held.values.egress.data_values).toBe('full');
  });

  test('the same value that changed elsewhere is not overwritten, but shown', async () => {
    const { api, store } = made();
    await store.settings.load();
    const models = { ...api.held.values.models, mode: 'remote' } as const;
    api.elsewhere('held', { values: { ...api.held.values, models } });

    const failure = await failureOf(
      store.putSetting('models', 'mode', 'local', 'auto', 'user')
    );

    expect(isChangedElsewhere(failure)).toBe(true);
    expect(api.held.values.models.mode).toBe('remote');
    expect(store.settings.value?.values.models.mode).toBe('remote');
  });
});

describe('limits', () => {
  const month = (api: FakeApi) => api.budget.limits[0]?.user_micro_usd;
  const day = (api: FakeApi) => api.budget.limits[1]?.user_micro_usd;

  test('one is stored, and what another page set beside it stays', async () => {
    const { api, store } = made();
    await store.budget.load();
    api.elsewhere('budget', {
      limits: api.budget.limits.map(limit =>
        limit.scope === 'day' ? { ...limit, user_micro_usd: 3 } : limit
      )
    });

    await store.putLimit('month', 5, null);

    expect([month(api), day(api)]).toEqual([5, 3]);
  });

  test('the same limit that changed elsewhere is not overwritten', async () => {
    const { api, store } = made();
    await store.putLimit('month', 5, null);
    const failure = await failureOf(store.putLimit('month', 9, 2));

    expect(isChangedElsewhere(failure)).toBe(true);
    expect(month(api)).toBe(5);
  });

  test('limits that cannot be read are replaced', async () => {
    const { api, store } = made();
    api.budget = { ...api.budget, revision: null };

    await store.putLimit('month', 5, 2);

    expect(month(api)).toBe(5);
  });
});

describe('news', () => {
  test('what is shown is read again when another page changed it', async () => {
    const { api, socket, store } = made();
    await Promise.all([store.settings.load(), store.tools.load()]);
    api.elsewhere('held', { problems: [] });
    api.elsewhere('list', { disabled: ['run_cell'] });

    socket.frameReceived.emit({ type: 'settings-update', part: 'settings' });
    socket.frameReceived.emit({ type: 'tools-update' });
    await settled();

    expect(store.settings.value).toBe(api.held);
    expect(store.tools.value?.disabled).toEqual(['run_cell']);
    expect(store.budget.isRequested).toBe(false); // No view uses it.
  });

  test('after a reconnect, all that is shown is read again', async () => {
    const { api, socket, store } = made();
    await store.tools.load();
    api.elsewhere('list', { disabled: ['run_cell'] });

    socket.opened.emit();
    await settled();

    expect(store.tools.value?.disabled).toEqual(['run_cell']);
  });

  test('after a turn, what was spent is asked for', async () => {
    const { socket, store } = made();
    const told = new Promise(resolve =>
      store.usageChanged.connect(() => resolve('spent'))
    );
    const update = (status: 'running' | 'idle') =>
      [
        { type: 'session-update', session: session('s1', { status }) }
      ] as unknown as Event[]; // Other event fields do not matter here.

    socket.deliver(update('running'));
    socket.deliver(update('idle'));

    await expect(told).resolves.toBe('spent');
    store.dispose();
    socket.frameReceived.emit({ type: 'tools-update' });
    expect(store.isDisposed).toBe(true);
  });
});

test('a key is stored, shown by its end, and removed', async () => {
  const { api, store } = made();
  await store.models.load();

  await store.setKey('acme', 'secret-1234');
  expect(store.models.value?.providers[0]).toMatchObject({
    key_set: true,
    key_last4: '1234'
  });
  await store.removeKey('acme');

  expect(store.models.value?.providers[0]?.key_set).toBe(false);
  expect(api.asked).toEqual([
    ['setKey', 'acme', 'secret-1234'],
    ['removeKey', 'acme']
  ]);
});
