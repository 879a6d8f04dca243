/** A message waits for its attachments. */

import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { act, showPanel } from '../../__tests__/harness';

const field = () => screen.getByPlaceholderText<HTMLTextAreaElement>(/…$/);
const button = (name: string) => screen.getByRole('button', { name });
const press = (key: string) =>
  act(() => void fireEvent.keyDown(field(), { key }));
const write = (value: string) =>
  act(() => void fireEvent.change(field(), { target: { value } }));
const chips = () =>
  [...document.querySelectorAll('.shoulders-Chip')].map(c => c.textContent);
const WAITS = 'Will be sent once everything is attached.';

/** The panel with uploads in progress. */
async function uploading(...names: string[]) {
  const shown = await showPanel();
  let done = (): void => {};
  let failed = (_: Error): void => {};
  shown.host.uploading = new Promise((resolve, reject) => {
    done = resolve;
    failed = reject;
  });
  await act(() => shown.host.look({ document: 'a.ipynb' }));
  const files = names.map(name => new File(['a'], name, { type: 'text/csv' }));
  const clipboardData = { getData: () => '', files };
  await act(() => void fireEvent.paste(field(), { clipboardData }));
  const sent = () =>
    shown.server.requests
      .filter(([name]) => name === 'sendMessage')
      .map(([, , body]) => body);
  const arrive = () => act(() => done());
  const fail = () => act(() => failed(new Error('No room.')));
  return { ...shown, sent, arrive, fail };
}

test('Enter waits for an upload, and the message goes with it', async () => {
  const { sent, arrive } = await uploading('one.csv', 'two.csv');
  expect(chips()).toEqual([
    'Attaching one.csv…',
    'Attaching two.csv…',
    'a.ipynb'
  ]);
  await write('Plot them.');
  await press('Enter');
  expect(screen.getByText(WAITS)).toBeTruthy();
  expect(field().value).toBe('Plot them.');
  expect(sent()).toEqual([]);
  await arrive();
  expect(sent()).toMatchObject([
    {
      text: 'Plot them.',
      attachments: [
        { kind: 'file', path: 'one.csv' },
        { kind: 'file', path: 'two.csv' }
      ],
      context: { active_document: 'a.ipynb' }
    }
  ]);
  expect(field().value).toBe('');
  expect(screen.queryByText(WAITS)).toBeNull();
  expect(chips()).toEqual(['a.ipynb']);
});

test.each([
  ['Escape', () => press('Escape')],
  ['its button', () => act(() => button('Cancel sending (Esc)').click())],
  ['typing on', () => write('Plot them, please')]
])('%s leaves a waiting message unsent', async (_, leave) => {
  const { sent, arrive, server } = await uploading('one.csv');
  await write('Plot it');
  await press('Enter');
  await leave();
  expect(screen.queryByText(WAITS)).toBeNull();
  await arrive();
  expect(sent()).toEqual([]);
  expect(server.requests.some(([name]) => name === 'cancel')).toBe(false);
  expect(chips()).toEqual(['one.csv', 'a.ipynb']);
  await press('Enter');
  expect(sent()).toHaveLength(1);
});

test('what is left out on its way is not attached, and nothing is sent without it', async () => {
  const { sent, arrive } = await uploading('one.csv');
  await write('Plot it');
  await press('Enter');
  await act(() => button('Remove Attaching one.csv…').click());
  expect(chips()).toEqual(['a.ipynb']);
  await arrive();
  expect(chips()).toEqual(['a.ipynb']);
  expect(sent()).toEqual([]);
  expect(field().value).toBe('Plot it');
});

test('a file that cannot be attached keeps the message back and says why', async () => {
  const { sent, fail } = await uploading('one.csv');
  await write('Plot it');
  await press('Enter');
  await fail();
  expect(screen.getByRole('alert').textContent).toContain('No room.');
  expect(sent()).toEqual([]);
  expect(field().value).toBe('Plot it');
});

test('a message that waits is sent from its tab while another one is looked at, or it is closed', async () => {
  const { sent, arrive, conversations } = await uploading('one.csv');
  const { key } = conversations.active;
  await write('Plot it');
  await press('Enter');
  await act(() => conversations.open('other'));
  await write('a draft');
  await act(() => conversations.close(key));
  await arrive();
  expect(sent()).toMatchObject([
    { text: 'Plot it', attachments: [{ kind: 'file', path: 'one.csv' }] }
  ]);
  expect(field().value).toBe('a draft');
  expect(conversations.hasUnsent('made-0')).toBe(false);
});

test('a dragged item that cannot be attached is reported when its turn comes', async () => {
  const { arrive, host, container } = await uploading('one.csv');
  Object.assign(host, {
    attachmentsOfDrag: async () => Promise.reject(new Error('It is gone.'))
  });
  const drop = Object.assign(new Event('lm-drop', { bubbles: true }), {
    mimeData: {},
    proposedAction: 'copy'
  });
  await act(
    () =>
      void container.querySelector('.shoulders-Composer')?.dispatchEvent(drop)
  );
  await new Promise(resolve => setTimeout(resolve)); // An unhandled rejection fails the run.
  expect(screen.queryByRole('alert')).toBeNull();
  await arrive();
  expect(screen.getByRole('alert').textContent).toContain('It is gone.');
  expect(chips()).toEqual(['one.csv', 'a.ipynb']);
});

test('what was left out stays so until the message is sent', async () => {
  const { arrive } = await uploading('one.csv');
  await act(() => button('Remove a.ipynb').click());
  await press('Enter');
  await press('Escape');
  expect(chips()).toEqual(['Attaching one.csv…', 'Context']);
  await press('Enter');
  await arrive();
  expect(chips()).toEqual(['a.ipynb']);
});
