import { Signal } from '@lumino/signaling';
import { expect, it, vi } from 'vitest';

import { problem } from '../../model/__tests__/fakes';
import type { PageFrame, SendMessage, ServerFrame } from '../../wire/generated';
import { ApiError } from '../http';
import { MessageChannel } from '../messageChannel';
import type { IPageSocket, SocketStatus } from '../socket';

const ACCEPTED = { turn_id: 't', seq: 7 };

function message(id: string, text = 'Hello'): SendMessage {
  return {
    id,
    text,
    attachments: [],
    context: null,
    model: null,
    mode: null,
    client_id: null,
    replaces: null
  };
}

function setUp(isOpen = true) {
  const frames: PageFrame[] = [];
  const posted: string[] = [];
  const socket = {
    frameReceived: new Signal<IPageSocket, ServerFrame>({} as IPageSocket),
    statusChanged: new Signal<IPageSocket, SocketStatus>({} as IPageSocket),
    send: (frame: PageFrame) => isOpen && frames.push(frame) > 0,
    renew: vi.fn()
  };
  const channel = new MessageChannel(socket as unknown as IPageSocket, {
    sendMessage: async (_, body) => {
      posted.push(body.id);
      return ACCEPTED;
    }
  });
  const answer = (frame: ServerFrame) => socket.frameReceived.emit(frame);
  return { channel, socket, frames, posted, answer };
}

it('sends a message over the socket and waits for its own answer', async () => {
  const { channel, frames, posted, answer } = setUp();
  const first = channel.send('s', message('a'));
  const second = channel.send('s', message('b'));
  expect(frames.map(frame => frame.type)).toEqual(
    Array(2).fill('message-send')
  );
  answer({
    type: 'message-sent',
    session_id: 's',
    message_id: 'b',
    accepted: ACCEPTED
  });
  answer({
    type: 'message-refused',
    session_id: 's',
    message_id: 'a',
    status: 409,
    error: problem
  });
  expect(await second).toEqual(ACCEPTED);
  await expect(first).rejects.toEqual(new ApiError(409, problem));
  expect(posted).toEqual([]);
});

it.each([
  ['a closed socket', false, 'Hello'],
  ['a long message', true, 'x'.repeat(70_000)]
])('sends %2$s by HTTP: %0$s', async (_, isOpen, text) => {
  const { channel, frames, posted } = setUp(isOpen);
  expect(await channel.send('s', message('a', text))).toEqual(ACCEPTED);
  expect([frames, posted]).toEqual([[], ['a']]);
});

it.each<[string, (made: ReturnType<typeof setUp>) => void]>([
  ['the socket closes', ({ socket }) => socket.statusChanged.emit('closed')],
  [
    'an older server knows no such frame',
    ({ answer }) => answer({ type: 'frame-error', error: problem })
  ]
])('sends a message again by HTTP when %s', async (_, fail) => {
  const made = setUp();
  const sent = made.channel.send('s', message('a'));
  fail(made);
  expect(await sent).toEqual(ACCEPTED);
  expect(made.posted).toEqual(['a']);
});

it('connects again and sends by HTTP when no answer comes', async () => {
  vi.useFakeTimers();
  const { channel, socket, posted, answer } = setUp();
  const answered = channel.send('s', message('a'));
  answer({
    type: 'message-sent',
    session_id: 's',
    message_id: 'a',
    accepted: ACCEPTED
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(socket.renew).not.toHaveBeenCalled();

  const lost = channel.send('s', message('b'));
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  expect(await answered).toEqual(await lost);
  expect(socket.renew).toHaveBeenCalledOnce();
  expect(posted).toEqual(['b']);
});
