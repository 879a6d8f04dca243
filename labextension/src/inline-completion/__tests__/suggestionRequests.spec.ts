import { afterEach, expect, test, vi } from 'vitest';

import type { CompletionEnd } from '../../wire/generated';
import {
  SuggestionRequests,
  type ISuggestionListener,
  type SuggestionQuery
} from '../suggestionRequests';

const QUESTION: SuggestionQuery = {
  path: 'a.ipynb',
  cell_id: 'c1',
  language: 'python',
  prefix: 'x',
  suffix: '',
  trigger: 'plus'
};

const END: CompletionEnd = {
  type: 'completion-end',
  request_id: 'r1',
  suggestions: ['one', 'two'],
  model: null,
  reason: null,
  message: null
};

/** A scripted server that records its requests. */
class Server {
  readonly asked: { path: string; init: RequestInit }[] = [];
  readonly calls: string[] = [];

  open(path: string, init: RequestInit): Promise<Response> {
    this.asked.push({ path, init });
    const body = new ReadableStream<Uint8Array>({
      start: controller => {
        this.say = data =>
          controller.enqueue(
            new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`)
          );
        this.close = () => controller.close();
        init.signal?.addEventListener('abort', () =>
          controller.error(new DOMException('gone', 'AbortError'))
        );
      }
    });
    return Promise.resolve(new Response(body));
  }

  call<T>(method: string, path: string): Promise<T> {
    this.calls.push(`${method} ${path}`);
    return Promise.reject(new Error('over already'));
  }

  say: (data: object) => void = () => undefined;
  close: () => void = () => undefined;
}

class Ear implements ISuggestionListener {
  readonly heard: unknown[] = [];
  suggested(text: string): void {
    this.heard.push(text);
  }
  ended(end: CompletionEnd | null): void {
    this.heard.push(end);
  }
}

afterEach(() => {
  vi.useRealTimers();
});

function scene() {
  const server = new Server();
  let count = 0;
  const completions = new SuggestionRequests(
    server,
    'page',
    () => `r${++count}`
  );
  return { server, completions, ear: new Ear() };
}

test('suggestions are heard as they come, then the end, once', async () => {
  const { server, completions, ear } = scene();
  completions.request(QUESTION, ear);
  const { path, init } = server.asked[0] ?? expect.fail('nothing was asked');
  expect(path).toBe('completions');
  expect(new Headers(init.headers).get('Accept')).toBe('text/event-stream');
  expect(JSON.parse(init.body as string)).toEqual({
    ...QUESTION,
    request_id: 'r1',
    client_id: 'page'
  });
  const suggestion = { type: 'completion-suggestion', request_id: 'r1' };
  server.say({ ...suggestion, index: 0, text: 'one' });
  await vi.waitFor(() => expect(ear.heard).toEqual(['one']));
  server.say(END);
  await vi.waitFor(() => expect(ear.heard).toEqual(['one', END]));
  server.close();
  await new Promise(resolve => setTimeout(resolve));
  expect(ear.heard).toEqual(['one', END]);
  expect(server.calls).toEqual([]);
});

test('nothing hidden is suggested', async () => {
  const { server, completions, ear } = scene();
  completions.request(QUESTION, ear);
  const suggestion = { type: 'completion-suggestion', request_id: 'r1' };
  server.say({ ...suggestion, index: 0, text: 'is_\u200badmin\u202e' });
  server.say({
    ...END,
    suggestions: ['is_\u200badmin\u202e', '👩\u200d👧', '\u200b']
  });
  await vi.waitFor(() =>
    expect(ear.heard).toEqual([
      'is_admin',
      { ...END, suggestions: ['is_admin', '👩\u200d👧'] }
    ])
  );
});

test('a newer request cancels the older, here and on the server, and nobody hears of it', async () => {
  vi.useFakeTimers();
  const { server, completions, ear } = scene();
  completions.request(QUESTION, ear);
  const { signal } = server.asked[0]?.init ?? {};
  const sayLate = server.say;
  const newer = new Ear();
  completions.request(QUESTION, newer);
  sayLate(END);
  server.say({ ...END, request_id: 'r2' });
  await vi.waitFor(() => expect(newer.heard).toHaveLength(1));
  vi.runAllTimers();
  expect(signal?.aborted).toBe(true);
  expect(server.calls).toEqual(['DELETE completions/r1']);
  expect(ear.heard).toEqual([]);
});

test('the key that ends a request does not wait for it to be let go', () => {
  vi.useFakeTimers();
  const { server, completions, ear } = scene();
  const asking = completions.request(QUESTION, ear);
  const { signal } = server.asked[0]?.init ?? {};
  asking.cancel();
  expect([signal?.aborted, server.calls]).toEqual([false, []]);
  asking.cancel();
  vi.runAllTimers();
  expect([signal?.aborted, server.calls]).toEqual([
    true,
    ['DELETE completions/r1']
  ]);
});

test('what is over is not cancelled', async () => {
  vi.useFakeTimers();
  const { server, completions, ear } = scene();
  const asking = completions.request(QUESTION, ear);
  server.say(END);
  await vi.waitFor(() => expect(ear.heard).toHaveLength(1));
  asking.cancel();
  vi.runAllTimers();
  expect(server.calls).toEqual([]);
});

test('a server that cannot be asked, or breaks off, is silence', async () => {
  const { server, completions, ear } = scene();
  server.open = () => Promise.reject(new Error('down'));
  completions.request(QUESTION, ear);
  await vi.waitFor(() => expect(ear.heard).toEqual([null]));

  const broken = scene();
  broken.completions.request(QUESTION, broken.ear);
  broken.server.close();
  await vi.waitFor(() => expect(broken.ear.heard).toEqual([null]));
});
