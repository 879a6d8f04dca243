import { expect, test } from 'vitest';

import { ApiError } from '../../client/http';
import { FakeSocket, settled } from '../../model/__tests__/fakes';
import type { FolderTrustView } from '../../wire/generated';
import { FolderTrustStore } from '../store';
import { FakeFolder, item } from './fakes';

const RULE = item('rule');
const SKILL = item('skill');

async function read(...items: FolderTrustView['items']) {
  const folder = new FakeFolder();
  folder.have(...items);
  const socket = new FakeSocket();
  let now = 0;
  const store = new FolderTrustStore(folder, socket, () => now);
  store.view.ensureLoaded();
  await settled();
  const wait = (ms: number): void => {
    now += ms;
  };
  const announced = (): string[] => store.announced.map(({ kind }) => kind);
  return { folder, socket, store, wait, announced };
}

test.each<[string, Partial<FolderTrustView>, string[]]>([
  ['waiting items', {}, ['rule', 'skill']],
  ['nothing of a trusted folder', { policy: 'trusted' }, []],
  ['nothing where trust is forbidden', { policy: 'forbidden' }, []],
  [
    'nothing that was answered',
    {
      items: [
        item('program'),
        item('rule', { state: 'trusted' }),
        item('skill', { state: 'declined' }),
        item('model', { state: 'changed' })
      ]
    },
    ['program', 'model']
  ]
])('announces %s', async (_, change, expected) => {
  const { folder, store, announced } = await read(RULE, SKILL);
  folder.held = { ...folder.held, ...change };
  await store.view.load();
  expect(announced()).toEqual(expected);
});

test('answers are sent, and what the server answers is the list', async () => {
  const { folder, store, announced } = await read(RULE, SKILL);

  await store.answer({ decline: [RULE.id] });
  expect(announced()).toEqual(['skill']);
  await store.answer({ trust: [SKILL.id] });

  expect(announced()).toEqual([]);
  expect(folder.answers).toEqual([
    { decline: [RULE.id] },
    { trust: [SKILL.id] }
  ]);
  expect(folder.reads).toBe(1);
});

test('an answer about an item that changed is refused, and the new list is read', async () => {
  const { folder, store } = await read(RULE);
  const edited = { ...RULE, id: 'another', state: 'changed' } as const;
  folder.have(edited);

  const failure: unknown = await store
    .answer({ trust: [RULE.id] })
    .catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ info: { code: 'stale' } });
  expect(store.view.value?.items).toEqual([edited]);
});

test('what was dismissed is not announced again, until something else comes', async () => {
  const { folder, store, announced } = await read(RULE);

  store.dismiss();
  await store.view.load();
  expect(announced()).toEqual([]);

  folder.have(RULE, SKILL);
  await store.view.load();
  expect(announced()).toEqual(['rule', 'skill']);
});

test('is read again on its frame, after a reconnect, and on the focus, once in ten seconds', async () => {
  const { folder, socket, store, wait } = await read(RULE);
  const reads = async (act: () => void): Promise<number> => {
    const before = folder.reads;
    act();
    await settled();
    return folder.reads - before;
  };

  expect(
    await reads(() =>
      socket.frameReceived.emit({ type: 'settings-update', part: 'trust' })
    )
  ).toBe(1);
  expect(
    await reads(() =>
      socket.frameReceived.emit({ type: 'settings-update', part: 'budget' })
    )
  ).toBe(0);
  expect(await reads(() => socket.opened.emit())).toBe(1);
  expect(await reads(store.onFocus)).toBe(0);
  wait(10_000);
  expect(
    await reads(() => {
      store.onFocus();
      store.onFocus();
    })
  ).toBe(1);

  store.dispose();
  expect(await reads(() => socket.opened.emit())).toBe(0);
});

test('nothing is read before a view asks for it', async () => {
  const folder = new FakeFolder();
  const socket = new FakeSocket();
  const store = new FolderTrustStore(folder, socket);
  socket.opened.emit();
  store.onFocus();
  await settled();
  store.dispose();
  expect(folder.reads).toBe(0);
});
