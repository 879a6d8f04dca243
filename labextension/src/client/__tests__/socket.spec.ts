import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { PageFrame, ServerFrame } from '../../wire/generated';
import { backoff, PageSocket, type WebSocketLike } from '../socket';

class FakeWebSocket implements WebSocketLike {
  readyState = 0;
  sent: PageFrame[] = [];
  closed = false;
  onopen: WebSocketLike['onopen'] = null;
  onmessage: WebSocketLike['onmessage'] = null;
  onclose: WebSocketLike['onclose'] = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as PageFrame);
  }
  close(): void {
    this.closed = true;
  }
  open(): void {
    this.readyState = 1;
    this.call(this.onopen, new Event('open'));
  }
  say(frame: ServerFrame): void {
    const data = JSON.stringify(frame);
    this.call(this.onmessage, new MessageEvent('message', { data }));
  }
  break(): void {
    this.readyState = 3;
    this.call(this.onclose, new CloseEvent('close'));
  }
  private call<E>(handler: ((event: E) => unknown) | null, event: E): void {
    handler?.call(this as unknown as WebSocket, event);
  }
}

const welcome = {
  type: 'welcome' as const,
  wire_version: 1,
  server_version: '0.1.0',
  now_ms: 0
};

/** A request that a page may carry out until `deadline_ms`. */
const restart = (deadline_ms: number): ServerFrame => ({
  type: 'kernel-restart',
  path: 'a.ipynb',
  kernel_id: 'k1',
  deadline_ms
});

const update = (seq: number): ServerFrame => ({
  type: 'events',
  events: [
    {
      type: 'text-delta',
      seq,
      session_id: 's1',
      turn_id: 't1',
      at: '',
      part_id: 'p1',
      text: 'x'
    }
  ]
});

function connected() {
  const made: FakeWebSocket[] = [];
  const socket = new PageSocket({
    clientId: 'page',
    connect: () => {
      const fake = new FakeWebSocket();
      made.push(fake);
      return fake;
    },
    pause: attempt => 1000 * (attempt + 1)
  });
  const last = () => {
    const fake = made.at(-1);
    if (fake === undefined) {
      throw new Error('nothing was connected');
    }
    return fake;
  };
  socket.reconnect();
  return { socket, made, last };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the page socket', () => {
  test('says hello with the cursors and is open once welcomed', () => {
    const { socket, last } = connected();
    socket.subscribe('s1', 7);
    expect(socket.send({ type: 'document-focus', path: 'a' })).toBe(false);
    last().open();
    expect(last().sent).toEqual([
      {
        type: 'hello',
        client_id: 'page',
        wire_version: 1,
        cursors: { s1: 7 }
      }
    ]);
    const opened = vi.fn();
    socket.opened.connect(opened);
    last().say(welcome);
    expect(socket.status).toBe('open');
    expect(opened).toHaveBeenCalledTimes(1);
    expect(socket.send({ type: 'document-focus', path: 'a' })).toBe(true);
  });

  test.each([
    ['ahead', 90_000],
    ['behind', -3_600_000]
  ])(
    'reads deadlines by its own clock, which is %s of the server’s',
    (_, skew) => {
      const { socket, last } = connected();
      const heard: number[] = [];
      socket.frameReceived.connect((_socket, frame) => {
        heard.push((frame as { deadline_ms: number }).deadline_ms);
      });
      last().open();
      vi.advanceTimersByTime(40);
      last().say({ ...welcome, now_ms: Date.now() - skew });
      last().say(restart(Date.now() - skew + 2000));
      expect(heard).toEqual([Date.now() + 2000]);

      // The time a frozen page slept before the welcome does not count as clock difference.
      last().break();
      vi.advanceTimersByTime(1000);
      last().open();
      const server = Date.now() - skew;
      vi.setSystemTime(Date.now() + 3_600_000);
      last().say({ ...welcome, now_ms: server });
      last().say(restart(server + 2000));
      expect(heard[1]).toBeLessThan(Date.now() - 3_500_000);
    }
  );

  test('subscribes after the welcome to what came after the hello', () => {
    const { socket, last } = connected();
    last().open();
    socket.subscribe('s2', 3);
    last().say(welcome);
    expect(last().sent.slice(1)).toEqual([
      { type: 'subscribe', session_id: 's2', after: 3 }
    ]);
  });

  test('reconnects when asked to, though nothing seems wrong', () => {
    const { socket, made, last } = connected();
    last().open();
    last().say(welcome);
    socket.subscribe('s1', 7);
    last().say(update(8));
    const silent = last();
    socket.renew();
    expect(silent.closed).toBe(true);
    expect(socket.status).toBe('connecting');
    last().open();
    expect(last().sent[0]).toMatchObject({ type: 'hello', cursors: { s1: 8 } });
    socket.renew(); // An attempt is running already.
    expect(made).toHaveLength(2);
  });

  test('comes back with growing pauses and the cursors it has reached', () => {
    const { socket, made, last } = connected();
    last().open();
    last().say(welcome);
    socket.subscribe('s1', 7);
    last().say(update(8));
    last().say(update(10)); // After a gap the cursor stays before the missing event.
    last().break();
    expect(socket.status).toBe('closed');
    vi.advanceTimersByTime(999);
    expect(made).toHaveLength(1);
    vi.advanceTimersByTime(1);
    last().break();
    vi.advanceTimersByTime(1999);
    expect(made).toHaveLength(2);
    vi.advanceTimersByTime(1);
    last().open();
    expect(last().sent[0]).toMatchObject({ cursors: { s1: 8 } });
    last().say(welcome);
    last().break();
    vi.advanceTimersByTime(1000);
    expect(made).toHaveLength(4);
  });

  test('gives up a socket that says nothing', () => {
    const { made } = connected();
    vi.advanceTimersByTime(20_000);
    expect(made[0]?.closed).toBe(true);
    vi.advanceTimersByTime(1000);
    expect(made).toHaveLength(2);
  });

  test('another version of the vocabulary asks for a reload and connects no more', () => {
    const { socket, made, last } = connected();
    last().open();
    last().say({ ...welcome, wire_version: 2 });
    expect(socket.status).toBe('reload');
    expect(made[0]?.closed).toBe(true);
    socket.reconnect();
    vi.advanceTimersByTime(60_000);
    expect(made).toHaveLength(1);
  });

  test('passes frames on by kind', () => {
    const { socket, last } = connected();
    const frames: string[] = [];
    const batches: number[] = [];
    const resyncs: number[] = [];
    socket.frameReceived.connect((_, frame) => frames.push(frame.type));
    socket.eventsReceived.connect((_, batch) => batches.push(batch.length));
    socket.resyncRequested.connect((_, frame) => resyncs.push(frame.after));
    last().open();
    last().say(welcome);
    last().say(update(1));
    last().say({ type: 'resync', session_id: 's1', after: 5 });
    last().say({
      type: 'document-read',
      operation_id: 'o1',
      claim_epoch: 1,
      path: 'a.ipynb',
      outputs: [],
      since: null
    });
    expect(batches).toEqual([1]);
    expect(resyncs).toEqual([5]);
    expect(frames).toEqual(['document-read']);
  });

  test('is quiet after its end', () => {
    const { socket, made } = connected();
    socket.dispose();
    vi.advanceTimersByTime(60_000);
    expect(made).toHaveLength(1);
    expect(made[0]?.closed).toBe(true);
  });
});

test('pauses double up to half a minute, with jitter', () => {
  expect(backoff(0, () => 0)).toBe(250);
  expect(backoff(0, () => 1)).toBe(500);
  expect(backoff(3, () => 1)).toBe(4000);
  expect(backoff(20, () => 1)).toBe(30_000);
});
