import { expect, test } from 'vitest';

import { ApiError, HttpClient, infoOf } from '../http';

function clientAnswering(status: number, body: string) {
  const requests: { path: string; init: RequestInit }[] = [];
  const client = new HttpClient(async (path, init) => {
    requests.push({ path, init });
    return new Response(status === 204 ? null : body, { status });
  });
  return { client, requests };
}

test('a route is asked with its query and answers its body', async () => {
  const page = { events: [], last_seq: 4, has_more: false };
  const { client, requests } = clientAnswering(200, JSON.stringify(page));
  expect(await client.events('s/1', 4, 500)).toEqual(page);
  expect(requests[0]?.path).toBe('sessions/s%2F1/events?after=4&limit=500');
});

test('a command is sent as JSON, and an empty answer is fine', async () => {
  const { client, requests } = clientAnswering(202, '');
  await client.answerApproval('s1', 'k1', { decision: 'deny', feedback: 'no' });
  expect(requests[0]).toMatchObject({
    path: 'sessions/s1/approvals/k1',
    init: { method: 'POST', body: '{"decision":"deny","feedback":"no"}' }
  });
});

test('an error of the API keeps its words', async () => {
  const error = { code: 'conflict', message: 'Taken.', hint: 'Wait.' };
  const { client } = clientAnswering(409, JSON.stringify({ error }));
  const failure = await client.status().catch((reason: unknown) => reason);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ status: 409, info: error });
});

test.each([
  ['of Jupyter', '{"message": "Forbidden"}', 403, 'Forbidden', false],
  ['of a proxy', '<html>bad</html>', 502, 'The server answered 502', true]
])(
  'an answer %s becomes words',
  async (_, body, status, message, retryable) => {
    const { client } = clientAnswering(status, body);
    const failure = await client.models().catch((reason: unknown) => reason);
    expect(infoOf(failure)).toMatchObject({
      message: expect.stringContaining(message) as string,
      retryable
    });
  }
);

test('no answer at all says what to check', async () => {
  const client = new HttpClient(() =>
    Promise.reject(new TypeError('Failed to fetch'))
  );
  const failure = await client.status().catch((reason: unknown) => reason);
  expect(failure).toMatchObject({ status: 0, info: { retryable: true } });
  expect(infoOf(failure).hint).toContain('server is running');
});
