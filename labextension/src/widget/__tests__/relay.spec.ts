import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Relay } from '../relay';
import { FakeModel, READY } from './kernel';

let model: FakeModel;
let relay: Relay;

beforeEach(() => {
  vi.useFakeTimers();
  model = new FakeModel();
  let count = 0;
  relay = new Relay({ model, newId: () => `id-${count++}` });
});

afterEach(() => {
  relay.dispose();
  vi.useRealTimers();
});

test('a request is sent by message and answered with text', async () => {
  const answer = relay.fetch('sessions?limit=5', {
    method: 'POST',
    body: '{"a":1}'
  });

  const [asked] = model.of('http');
  expect(asked).toEqual({
    t: 'http',
    view: model.view,
    id: 'id-1',
    method: 'POST',
    path: 'sessions?limit=5',
    body: '{"a":1}'
  });
  model.say({
    t: 'http',
    id: 'id-1',
    status: 201,
    content_type: 'application/json',
    body: '{"id":"s1"}'
  });
  const response = await answer;
  expect(response.status).toBe(201);
  expect(await response.json()).toEqual({ id: 's1' });
});

test('an answer that is no text comes in a buffer, and one without content is empty', async () => {
  const picture = relay.fetch('blobs/1', { method: 'GET' });
  const nothing = relay.fetch('sessions/s1', { method: 'DELETE' });
  const bytes = new Uint8Array([0, 137, 80, 78, 71, 0]);

  const http = { t: 'http', status: 200, content_type: 'image/png' };
  model.say({ ...http, id: 'id-1', body: null }, [
    new DataView(bytes.buffer, 1, 4)
  ]);
  model.say({ ...http, id: 'id-2', status: 204, body: '' });

  const got = new Uint8Array(await (await picture).arrayBuffer());
  expect([...got]).toEqual([137, 80, 78, 71]);
  expect((await nothing).status).toBe(204);
});

test('messages to another view are ignored', async () => {
  model.emit('msg:custom', { ...READY, view: 'another' }, []);
  model.emit('msg:custom', null, []);
  expect(relay.status.kind).toBe('asking');

  model.say(READY);
  expect(relay.status.kind).toBe('ready');
  expect(relay.notebook).toBe('a/trip.ipynb');
});

test('a kernel that does not answer is called silent, and asked again until it does', () => {
  vi.advanceTimersByTime(4000);
  expect(relay.status.kind).toBe('silent');
  expect(model.of('hello')).toHaveLength(1);
  vi.advanceTimersByTime(20_000);
  expect(model.of('hello')).toHaveLength(3);

  model.say(READY);
  expect(relay.status.kind).toBe('ready');
  vi.advanceTimersByTime(60_000);
  expect(model.of('hello')).toHaveLength(3);
});

test('a kernel that was there and does not answer is busy, until it answers', async () => {
  model.say(READY);
  const answer = relay.fetch('status', { method: 'GET' });
  vi.advanceTimersByTime(3000);
  expect(relay.status.kind).toBe('ready');
  vi.advanceTimersByTime(2000);
  expect(relay.status.kind).toBe('slow');

  model.say({
    t: 'http',
    id: 'id-1',
    status: 200,
    content_type: 'text/plain',
    body: 'late'
  });
  expect(relay.status.kind).toBe('ready');
  expect(await (await answer).text()).toBe('late');
});

test('messages during a request do not hide that it waits', () => {
  model.say(READY);
  void relay.fetch('status', { method: 'GET' });
  relay.connect();
  model.say({ t: 'opened', id: 'id-2' });
  vi.advanceTimersByTime(4000);
  expect(relay.status.kind).toBe('slow');
});

test('an unreachable server is reported in the kernel’s words until it is back', () => {
  model.say({ t: 'gone', reason: 'Start it with jupyter lab.' });
  model.say({ ...READY, server: false });
  expect(relay.status).toEqual({
    kind: 'gone',
    reason: 'Start it with jupyter lab.'
  });
  vi.advanceTimersByTime(10_000);
  expect(model.of('hello')).toHaveLength(2);

  model.say(READY);
  expect(relay.status.kind).toBe('ready');
});

test('a socket opens, sends, receives and closes', () => {
  const socket = relay.connect();
  const heard: string[] = [];
  socket.onopen = () => heard.push('open');
  socket.onmessage = ({ data }) => heard.push(String(data));
  socket.onclose = () => heard.push('closed');
  expect(socket.readyState).toBe(0);

  model.say({ t: 'opened', id: 'id-1' });
  expect(socket.readyState).toBe(1);
  socket.send('{"type":"hello"}');
  model.say({ t: 'frame', id: 'id-1', text: '{"type":"welcome"}' });
  model.say({ t: 'frame', id: 'another', text: 'not mine' });
  model.say({ t: 'closed', id: 'id-1', code: 1006, reason: '' });

  expect(heard).toEqual(['open', '{"type":"welcome"}', 'closed']);
  expect(socket.readyState).toBe(3);
  expect(model.of('send').map(({ text }) => text)).toEqual([
    '{"type":"hello"}'
  ]);
});

test('a kernel that was restarted gives up what was asked of it', async () => {
  model.say(READY);
  const socket = relay.connect();
  let closed = false;
  socket.onclose = () => {
    closed = true;
  };
  const answer = relay.fetch('status', { method: 'GET' });
  model.emit('comm_live_update', null);

  await expect(answer).rejects.toThrow('restarted');
  expect(closed).toBe(true);
  expect(model.of('hello')).toHaveLength(2);
  vi.advanceTimersByTime(4000);
  expect(relay.status.kind).toBe('silent');
});

test('a front end that refuses to send is as a kernel that is silent', () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  model.isDead = true;
  relay.hello();
  vi.advanceTimersByTime(4000);
  expect(relay.status.kind).toBe('silent');
  expect(warned).toHaveBeenCalled();
});

test('once disposed it says goodbye and listens no more', () => {
  void relay.fetch('status', { method: 'GET' });
  relay.dispose();
  expect(model.said.at(-1)).toEqual({ t: 'close', view: model.view, id: null });
  expect(model.listeners).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(model.said.at(-1)?.t).toBe('close');
});
