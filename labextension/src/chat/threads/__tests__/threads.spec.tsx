/** Threads in the panel: the list, the thread bar, the resolve hint. */

import { Signal } from '@lumino/signaling';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { session } from '../../../model/__tests__/fakes';
import type {
  IThreadLocation,
  IThreadLocations
} from '../../../host/threadLocations';
import type { Anchor, Session } from '../../../wire/generated';
import { act, showPanel, type FakeHost } from '../../__tests__/harness';

const place: Anchor = {
  document: 'work/a.ipynb',
  cell_id: 'c1',
  target: 'source',
  range: { from: 0, to: 6 },
  quote: 'load()\nmore()',
  prefix: '',
  suffix: '',
  version: null,
  certainty: 'exact',
  output: null
};

const thread = (
  id: string,
  change: Partial<Session> = {},
  anchor: Partial<Anchor> = {}
): Session =>
  session(id, { kind: 'task', anchor: { ...place, ...anchor }, ...change });

/** Fake current anchors. */
class FakePlaces implements IThreadLocations {
  readonly changed = new Signal<this, void>(this);
  readonly places = new Map<string, IThreadLocation>();
  readonly revealed: string[] = [];
  currentDocument: string | null = 'work/a.ipynb';
  found = true;

  of(sessionId: string): IThreadLocation | null {
    return this.places.get(sessionId) ?? null;
  }
  in(): readonly IThreadLocation[] {
    return [...this.places.values()];
  }
  async reveal({ id }: Session): Promise<boolean> {
    this.revealed.push(id);
    return this.found;
  }
  put(sessionId: string, change: Partial<IThreadLocation> = {}): void {
    const known = { sessionId, anchor: place, number: 3, line: null };
    this.places.set(sessionId, { ...known, ...change });
    this.changed.emit();
  }
}

const open = (list: Session[], prepare: (host: FakeHost) => void = () => {}) =>
  showPanel([], (server, host) => {
    server.sessionList = list;
    host.threads = new FakePlaces();
    prepare(host);
  });

async function showList(): Promise<HTMLElement> {
  await userEvent.click(screen.getByRole('button', { name: /^Threads/ }));
  await act(() => {});
  return screen.getByRole('region', { name: 'Threads' });
}

const titles = (): (string | null)[] =>
  [...document.querySelectorAll('.shoulders-ThreadRow-title')].map(
    ({ textContent }) => textContent
  );

describe('the list of threads', () => {
  test('shows documents in turn, with places as they are now', async () => {
    const { host } = await open([
      thread('t1', { title: 'First' }),
      thread('t2', { title: 'Other' }, { document: 'b.py', cell_id: null }),
      thread('t3', { title: 'Done', status: 'resolved' }),
      thread('t4', { title: 'Lost' }, { certainty: 'orphaned' })
    ]);
    const list = await showList();
    expect(titles()).toEqual(['First', 'Lost', 'Other', 'Done']);
    expect(
      within(list).getByText('Not in document', { selector: 'span' })
    ).toBeTruthy();
    expect(within(list).getAllByText('load() …')).toHaveLength(4);
    const places = host.threads as FakePlaces;
    await act(() => places.put('t1', { number: 7 }));
    expect(within(list).getByText('Cell 7')).toBeTruthy();
    const approximate = { ...place, certainty: 'approximate' } as const;
    await act(() => places.put('t1', { anchor: approximate }));
    expect(within(list).getByText('Approximate')).toBeTruthy();
  });

  test('counts those of the document in front that are not resolved', async () => {
    const { host } = await open([
      thread('t1'),
      thread('t3', { status: 'resolved' })
    ]);
    const button = (): HTMLElement =>
      screen.getByRole('button', { name: /^Threads/ });
    expect(button().title).toBe('Threads (1 in this document)');
    const places = host.threads as FakePlaces;
    places.currentDocument = 'b.py';
    await act(() => places.changed.emit());
    expect(button().title).toBe('Threads');
  });

  test('is walked through by keyboard', async () => {
    const { conversations } = await open([
      thread('t1', { title: 'First' }),
      thread('t2', { title: 'Second' })
    ]);
    await showList();
    await userEvent.keyboard('{ArrowDown}{ArrowDown}');
    expect(document.activeElement?.textContent).toContain('Second');
    await userEvent.keyboard('{ArrowUp}{ArrowUp}');
    expect(document.activeElement).toBe(screen.getByRole('searchbox'));
    await userEvent.keyboard('x{Escape}');
    expect(screen.getByRole('searchbox')).toHaveProperty('value', '');
    await userEvent.keyboard('{ArrowDown}{Enter}');
    await act(() => {});
    expect(conversations.active.sessionId).toBe('t1');
    expect(screen.queryByRole('region', { name: 'Threads' })).toBeNull();
  });

  test('says that there are none, and that none matches', async () => {
    await open([]);
    const list = await showList();
    expect(within(list).getByRole('status').textContent).toContain(
      'No threads yet'
    );
  });

  test('shows what a quote, a title and a path hide', async () => {
    await open([
      thread(
        't1',
        { title: 'ti\u202etle' },
        { quote: 'quo\u200bte', document: 'a\u202e.py' }
      )
    ]);
    const list = await showList();
    expect(list.textContent).toContain('ti⟨U+202E⟩tle');
    expect(list.textContent).toContain('quo⟨U+200B⟩te');
    expect(list.textContent).toContain('a⟨U+202E⟩.py');
  });

  test('asks before it deletes', async () => {
    const { host, server } = await open([thread('t1', { title: 'First' })]);
    await showList();
    host.sure = false;
    await userEvent.keyboard('{ArrowDown}{Delete}');
    await act(() => {});
    expect(server.requests.flat()).not.toContain('deleteSession');
    host.sure = true;
    await userEvent.keyboard('{Delete}');
    await act(() => {});
    expect(server.requests).toContainEqual(['deleteSession', 't1']);
    expect(screen.getByText('Deleted “First”.')).toBeTruthy();
  });
});

describe('above a thread', () => {
  test('its place leads to it, and says when it is gone', async () => {
    const { host, conversations } = await open([thread('t1')]);
    const places = host.threads as FakePlaces;
    places.put('t1', { number: 2 });
    await act(() => conversations.open('t1'));
    const bar = screen.getByRole('group', { name: 'Thread' });
    const where = within(bar).getByRole('button', { name: /Cell 2/ });
    await userEvent.click(where);
    await act(() => {});
    expect(places.revealed).toEqual(['t1']);
    expect(screen.queryByRole('alert')).toBeNull();
    places.found = false;
    await userEvent.click(where);
    await act(() => {});
    expect(screen.getByRole('alert').textContent).toContain('is no longer in');
  });

  test('it is opened in a page that follows no places', async () => {
    const { host, conversations } = await open([thread('t1')], made => {
      made.threads = null;
    });
    await act(() => conversations.open('t1'));
    const bar = screen.getByRole('group', { name: 'Thread' });
    await userEvent.click(
      within(bar).getByRole('button', { name: /a\.ipynb/ })
    );
    await act(() => {});
    expect(host.done).toEqual([
      [
        'target',
        {
          path: 'work/a.ipynb',
          cellId: 'c1',
          range: { from: 0, to: 6 },
          part: 'source'
        }
      ]
    ]);
  });

  test('a thread that has not begun has no situation, and ideas for its place', async () => {
    const { host, conversations, server } = await open([]);
    await act(() => host.look({ document: 'other.ipynb' }));
    await act(() => conversations.openThread({ ...place, target: 'output' }));
    expect(screen.getByText('What about this output?')).toBeTruthy();
    expect(screen.queryByText('other.ipynb')).toBeNull();
    await userEvent.click(screen.getByText('Explain this output.'));
    await userEvent.click(screen.getByRole('button', { name: /^Send/ }));
    await act(() => {});
    const [, , message] =
      server.requests.find(([what]) => what === 'sendMessage') ?? [];
    expect(message).toMatchObject({
      text: 'Explain this output.',
      context: null
    });
  });
});
