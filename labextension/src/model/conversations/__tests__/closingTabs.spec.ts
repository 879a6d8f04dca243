/** Closing a tab keeps the user's text. */

import { describe, expect, test } from 'vitest';

import { open, withLog } from '../../__tests__/inMemoryConversations';

describe('the edit of a sent message', () => {
  test('is kept while it lasts, over a reload and a closed tab', async () => {
    const { conversations, key, keeper } = await withLog();
    let told = 0;
    conversations.changed.connect(() => told++);
    conversations.setEdit(key, 'm1', 'as it was');
    expect(told).toBe(1);
    conversations.setEdit(key, 'm1', 'bett');
    conversations.setEdit(key, 'm1', 'better');
    expect(told).toBe(1); // The input renders typed text itself.
    const again = open(keeper).conversations;
    expect(again.edit(key, 'm1')).toBe('better');
    expect(again.edit(key, 'm2')).toBeNull();
    conversations.close(key);
    conversations.open('s1');
    expect(conversations.edit(conversations.active.key, 'm1')).toBe('better');
    conversations.setEdit(key, 'm1', null);
    expect(conversations.edit(key, 'm1')).toBeNull();
    expect(open(keeper).conversations.edit(key, 'm1')).toBeNull();
  });
});

describe('closing a tab', () => {
  test('keeps what was written in it until the conversation is shown again', async () => {
    const { conversations, key, server, keeper } = await withLog();
    const cell = { kind: 'cell', path: 'a.ipynb', cell_id: 'c1' } as const;
    conversations.setDraft(key, 'half a thou');
    conversations.attach(key, cell);
    server.fail({ message: 'Unplugged.' });
    await conversations.send(key, { text: 'lost?' });
    conversations.close(key);
    expect(conversations.tabs.some(tab => tab.key === key)).toBe(false);
    expect(conversations.hasUnsent('s1')).toBe(true);
    const again = open(keeper).conversations; // Also after a reload.
    for (const page of [conversations, again]) {
      page.open('s1');
      expect(page.active).toEqual({ key, sessionId: 's1' });
      expect(page.draft(key)).toBe('half a thou');
      expect(page.attachments(key)).toEqual([cell]);
      expect(page.outbox(key).map(({ body }) => body.text)).toEqual(['lost?']);
      expect(page.hasUnsent('s1')).toBe(false);
    }
  });

  test('forgets it when nothing was written', async () => {
    const { conversations, key, keeper } = await withLog();
    conversations.setModel(key, 'other/model');
    conversations.close(key);
    expect(conversations.hasUnsent('s1')).toBe(false);
    expect(JSON.parse(keeper.text ?? '')).toMatchObject({ aside: [] });
    conversations.open('s1');
    expect(conversations.active.key).not.toBe(key);
  });

  test('keeps the draft of a conversation that had not begun for the next new one', () => {
    const { conversations } = open();
    const { key } = conversations.active;
    conversations.setDraft(key, 'a question');
    conversations.close(key);
    const { key: fresh } = conversations.active;
    expect(conversations.draft(fresh)).toBe('');
    conversations.create();
    expect(conversations.tabs).toEqual([{ key, sessionId: null }]);
    expect(conversations.draft(key)).toBe('a question');
  });

  test('leaves a new conversation in which something is written as it is', () => {
    const { conversations } = open();
    const { key: first } = conversations.active;
    conversations.setDraft(first, 'a question');
    conversations.close(first);
    const { key: second } = conversations.active;
    conversations.setDraft(second, 'another');
    conversations.create();
    expect(conversations.tabs.map(({ key }) => key)).toEqual([second]);
    conversations.close(second);
    conversations.create(); // The tab closed last comes first.
    expect(conversations.draft(conversations.active.key)).toBe('another');
  });

  test('sends what was on its way, to the conversation it was written in', async () => {
    const { conversations, server } = open();
    const { key } = conversations.active;
    const sending = conversations.send(key, { text: 'one' });
    conversations.close(key);
    await sending;
    expect(server.requests.map(([name, id]) => [name, id])).toEqual([
      ['createSession', expect.anything()],
      ['sendMessage', 'made-0']
    ]);
    expect(conversations.hasUnsent('made-0')).toBe(false);
    conversations.open('made-0');
    expect(conversations.outbox(conversations.active.key)).toEqual([]);
  });

  test('keeps a message that could not be sent with its conversation', async () => {
    const { conversations, server } = open();
    const { key } = conversations.active;
    const sending = conversations.send(key, { text: 'one' });
    conversations.close(key);
    await Promise.resolve(); // The session is created; the message fails.
    server.fail({ message: 'Unplugged.' });
    await sending;
    expect(conversations.hasUnsent('made-0')).toBe(true);
    conversations.open('made-0');
    await conversations.retrySend(
      key,
      conversations.outbox(key)[0]?.body.id ?? ''
    );
    expect(server.requests.at(-1)?.slice(0, 2)).toEqual([
      'sendMessage',
      'made-0'
    ]);
  });

  test('keeps the latest fifty', () => {
    const { conversations } = open();
    for (let count = 0; count < 51; count++) {
      conversations.open(`s${count}`);
      conversations.setDraft(conversations.active.key, `draft ${count}`);
      conversations.close(conversations.active.key);
    }
    expect(conversations.hasUnsent('s0')).toBe(false);
    expect(conversations.hasUnsent('s1')).toBe(true);
    conversations.open('s50');
    expect(conversations.draft(conversations.active.key)).toBe('draft 50');
  });
});
