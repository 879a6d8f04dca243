/** Messages: versions, forks, copies, chips, sources, retries; terminal text, framed pages. */

import { fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import * as React from 'react';

import { fixture } from '../../../model/__tests__/reducerFixtures';
import type { Attachment, Event } from '../../../wire/generated';
import { References } from '../References';
import { SandboxedPage } from '../../../ui/viewers/SandboxedPage';
import { Sources } from '../Sources';
import { TerminalText } from '../../../ui/viewers/TerminalText';
import { act, show, showPanel } from '../../__tests__/harness';

const button = (name: string | RegExp): HTMLElement =>
  screen.getByRole('button', { name });

const log = (name: string): Event[] => fixture(name).events;

/** The log of one answered question, with its end. */
const answered = (): Event[] => log('streamed-text');

/** The same log with its message edited and answered again. */
function edited(): Event[] {
  const before = answered();
  const first = before.find(event => event.type === 'message-add');
  if (first?.type !== 'message-add') {
    throw new Error('The log has a message.');
  }
  const seq = before.length + 1;
  const again: Event = {
    ...first,
    seq,
    message_id: 'again',
    text: 'Asked differently',
    replaces: {
      message_id: first.message_id,
      seq: first.seq,
      messages: 1,
      todo: []
    }
  };
  return [...before, again];
}

describe('a message of the user', () => {
  test('is edited and sent as another version', async () => {
    const { server } = await showPanel(answered());
    const said = document.querySelector('.shoulders-User-text')?.textContent;
    fireEvent.click(button('Edit and resend'));
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', {
      name: 'Message'
    });
    expect(document.activeElement).toBe(field);
    expect(field.value).toBe(said);
    fireEvent.change(field, { target: { value: ' Asked differently ' } });
    await act(() => {
      fireEvent.keyDown(field, { key: 'Enter' });
    });
    const [, , body] = server.requests.at(-1) ?? [];
    expect(body).toMatchObject({ text: 'Asked differently', replaces: 'm1' });
    expect(document.querySelector('.shoulders-Agent')).toBeNull();
  });

  test('is still being edited after a look at another tab and the history', async () => {
    const { server, conversations } = await showPanel(answered());
    const { key } = conversations.active;
    fireEvent.click(button('Edit and resend'));
    const field = () =>
      screen.queryByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    fireEvent.change(field() ?? document, { target: { value: 'half' } });
    await act(() => conversations.create());
    expect(field()).toBeNull();
    await act(() => conversations.activate(key));
    expect(field()?.value).toBe('half');
    expect(document.activeElement).not.toBe(field());
    fireEvent.click(button('History'));
    fireEvent.click(button('History'));
    expect(field()?.value).toBe('half');
    await act(() => void fireEvent.click(button('Send')));
    expect(server.requests.at(-1)?.[2]).toMatchObject({
      text: 'half',
      replaces: 'm1'
    });
    expect(conversations.edit(key, 'm1')).toBeNull();
  });

  test('keeps typed text when another page replaced the message during editing', async () => {
    const { socket } = await showPanel(answered());
    fireEvent.click(button('Edit and resend'));
    fireEvent.change(screen.getByRole('textbox', { name: 'Message' }), {
      target: { value: 'mine' }
    });
    await act(() => socket.deliver(edited().slice(-1)));
    expect(screen.queryByRole('textbox', { name: 'Message' })).toBeNull();
    fireEvent.click(button('Earlier version'));
    const field = screen.getByRole('textbox', { name: 'Message' });
    expect(field).toHaveProperty('value', 'mine');
    expect(button('Send')).toHaveProperty('disabled', true);
  });

  test('stays as it is after Escape', async () => {
    const { server } = await showPanel(answered());
    fireEvent.click(button('Edit and resend'));
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Message' }), {
      key: 'Escape'
    });
    expect(screen.queryByRole('textbox', { name: 'Message' })).toBeNull();
    expect(server.requests.some(([name]) => name === 'sendMessage')).toBe(
      false
    );
    expect(server.requests.some(([name]) => name === 'cancel')).toBe(false);
  });

  test('cannot be edited while a turn runs', async () => {
    await showPanel(log('parallel-calls'));
    fireEvent.click(button('Stop the agent to edit this message'));
    expect(screen.queryByRole('textbox', { name: 'Message' })).toBeNull();
  });

  test('has versions to walk between, of which the earlier ones are only read', async () => {
    await showPanel(edited());
    expect(screen.getByText('2 of 2')).toBeTruthy();
    fireEvent.click(button('Earlier version'));
    expect(screen.getByText('1 of 2')).toBeTruthy();
    expect(document.querySelector('.shoulders-Agent')).toBeTruthy();
    expect(document.activeElement).toBe(button('Later version'));
    expect(screen.queryByRole('button', { name: 'Edit and resend' })).toBe(
      null
    );
    fireEvent.click(button('Back to the latest version'));
    expect(screen.getByText('Asked differently')).toBeTruthy();
    expect(document.querySelector('.shoulders-EarlierVersionBar')).toBeNull();
  });

  test('continues from an earlier version in a fork', async () => {
    const { server } = await showPanel(edited());
    fireEvent.click(button('Earlier version'));
    const bar = within(
      document.querySelector<HTMLElement>('.shoulders-EarlierVersionBar') ??
        document.body
    );
    await act(() => {
      fireEvent.click(bar.getByRole('button', { name: /^Continue from here/ }));
    });
    expect(server.requests).toContainEqual([
      'forkSession',
      's1',
      { seq: answered().length }
    ]);
  });

  test('is forked before it, with its text in the input', async () => {
    const { server, conversations } = await showPanel(answered());
    const forks = screen.getAllByRole('button', {
      name: /^Continue from here/
    });
    await act(() => forks[0]?.click());
    const first = answered().find(event => event.type === 'message-add');
    expect(server.requests).toContainEqual([
      'forkSession',
      's1',
      { seq: (first?.seq ?? 0) - 1 }
    ]);
    expect(conversations.draft(conversations.active.key)).not.toBe('');
  });

  test('and an answer are copied as they were written', async () => {
    const { host } = await showPanel(answered());
    const copies = screen.getAllByRole('button', { name: 'Copy message' });
    expect(copies).toHaveLength(2);
    for (const copy of copies) {
      await act(() => {
        fireEvent.click(copy);
      });
    }
    const texts = host.done.flatMap(([what, text]) =>
      what === 'copy' ? [String(text)] : []
    );
    expect(texts).toHaveLength(2);
    expect(texts[1]).not.toBe('');
    expect(screen.getAllByRole('button', { name: 'Copied' })).toHaveLength(2);
  });

  test('has a row of actions that is one stop for the Tab key', async () => {
    await showPanel(answered());
    const row = screen.getAllByRole('toolbar')[0] ?? document.body;
    const buttons = within(row).getAllByRole('button');
    expect(buttons.map(each => each.tabIndex)).toEqual([0, -1, -1, -1]);
    buttons[0]?.focus();
    fireEvent.keyDown(row, { key: 'ArrowLeft' });
    expect(document.activeElement).toBe(buttons[3]);
    fireEvent.keyDown(row, { key: 'ArrowRight' });
    expect(document.activeElement).toBe(buttons[0]);
  });
});

test('a turn that only failed is tried again in its place', async () => {
  const failed = answered().filter(
    ({ type }) => !type.startsWith('text') && type !== 'turn-end'
  );
  const events = [
    ...failed,
    {
      ...answered().find(event => event.type === 'turn-end'),
      type: 'turn-end',
      exit: 'error',
      error: {
        code: 'overloaded',
        message: 'Too many at once.',
        hint: 'Wait.',
        retryable: true,
        details: null,
        provider: 'acme',
        model: 'm',
        request_id: 'req_1'
      },
      summary: null
    } as Event
  ].map((event, index) => ({ ...event, seq: index + 1 }));
  const { server } = await showPanel(events);
  expect(screen.getByRole('alert').textContent).toContain('Wait.');
  expect(screen.queryByText('req_1')).toBeNull();
  fireEvent.click(button('Details'));
  expect(screen.getByText('req_1')).toBeTruthy();
  await act(() => {
    fireEvent.click(button('Try again'));
  });
  const [, , body] = server.requests.at(-1) ?? [];
  expect(body).toMatchObject({ replaces: 'm1' });
});

describe('chips', () => {
  const ALL: Attachment[] = [
    { kind: 'file', path: 'data/a.py' },
    { kind: 'folder', path: 'data' },
    { kind: 'cell', path: 'a.ipynb', cell_id: 'c1' },
    {
      kind: 'selection',
      path: 'a.py',
      cell_id: null,
      range: { from: 1, to: 4 },
      text: 'a\nb',
      before: '',
      after: ''
    },
    { kind: 'output', path: 'a.ipynb', cell_id: 'c1', index: 0 },
    { kind: 'error', path: 'a.ipynb', cell_id: 'c2' },
    { kind: 'variable', path: 'a.ipynb', name: 'wines' }
  ];

  test('open what they name', () => {
    const { host } = show(
      <References
        attachments={ALL}
        context={{
          active_document: 'a.ipynb',
          active_cell_id: 'c1',
          selection: { cell_id: 'c1', range: { from: 0, to: 2 }, text: 'xy' },
          open_documents: []
        }}
      />
    );
    screen.getAllByRole('button').forEach(chip => chip.click());
    expect(screen.getAllByRole('button').map(chip => chip.textContent)).toEqual(
      [
        'a.py',
        'data',
        'Cell · a.ipynb',
        '2 lines selected · a.py',
        'Output · a.ipynb',
        'Error · a.ipynb',
        'wines',
        'a.ipynb',
        '1 line selected'
      ]
    );
    expect(host.done.map(([, target]) => target)).toEqual([
      { path: 'data/a.py' },
      { path: 'data', isFolder: true },
      { path: 'a.ipynb', cellId: 'c1' },
      { path: 'a.py', cellId: null, range: { from: 1, to: 4 } },
      { path: 'a.ipynb', cellId: 'c1', part: 'output' },
      { path: 'a.ipynb', cellId: 'c2', part: 'output' },
      { path: 'a.ipynb' },
      { path: 'a.ipynb', cellId: 'c1' },
      { path: 'a.ipynb', cellId: 'c1', range: { from: 0, to: 2 } }
    ]);
  });

  test('show hidden characters of names, and no picture of a strange kind', () => {
    show(
      <References
        attachments={[
          { kind: 'file', path: 'a\u202eyp.exe' },
          {
            kind: 'image',
            media_type: 'image/svg+xml',
            data: 'PHN2Zz4=',
            blob: null
          }
        ]}
        context={null}
      />
    );
    expect(screen.getByText('a⟨U+202E⟩yp.exe')).toBeTruthy();
    const picture = button('Image');
    expect((picture as HTMLButtonElement).disabled).toBe(true);
    expect(document.querySelector('img')).toBeNull();
  });
});

describe('sources', () => {
  test('are listed once each, with their hosts', () => {
    const text = `[A](https://a.example/x) [1](https://b.example/y?utm_source=z)
      [again](https://a.example/x/#part) [B][b] <https://c.example/>

[b]: https://b.example/y`;
    show(<Sources text={text} />);
    const links = screen.getAllByRole('link');
    expect(links.map(link => link.textContent)).toEqual([
      'Aa.example',
      'Bb.example',
      '/c.example'
    ]);
    expect(links.map(link => link.getAttribute('rel'))).toEqual(
      Array(3).fill('noopener noreferrer')
    );
  });

  test.each([
    'no link',
    '[one](https://a.example/x)',
    '`https://a.example` `https://b.example`',
    '[x](javascript:1) [y](https://a.example)'
  ])('are not listed for %s', text => {
    const { container } = show(<Sources text={text} />);
    expect(container.textContent).toBe('');
  });
});

test('words of a terminal have its colours, as classes', () => {
  const { container } = show(
    <TerminalText
      text={'\u001b[1;31mred\u001b[0m \u001b]0;x\u0007<b>\u202e</b>'}
    />
  );
  expect(container.querySelector('span')?.className).toBe(
    'shoulders-mod-bold shoulders-Ink shoulders-mod-ink-red'
  );
  expect(container.textContent).toBe('red <b>⟨U+202E⟩</b>');
  expect(container.querySelector('[style], b')).toBeNull();
});

test('a page runs its scripts only when the user asks for it', () => {
  show(
    <SandboxedPage
      html={'<b>x</b><script>parent.hit = 1</script>'}
      title="Page"
    />
  );
  const frame = (): HTMLIFrameElement => screen.getByTitle('Page');
  expect(frame().getAttribute('sandbox')).toBe('');
  expect(frame().srcdoc).not.toContain('<script>');
  fireEvent.click(button('Run scripts'));
  expect(frame().getAttribute('sandbox')).toBe('allow-scripts');
  expect(frame().srcdoc).toContain("frame-src 'none'");
  fireEvent.click(button('Stop scripts'));
  expect(frame().getAttribute('sandbox')).toBe('');
});

test('a page without scripts has nothing to run', () => {
  show(<SandboxedPage html="<b>x</b>" title="Page" />);
  expect(screen.queryByRole('button')).toBeNull();
});
