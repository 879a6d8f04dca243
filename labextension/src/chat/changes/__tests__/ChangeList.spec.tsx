/** The change list at the end of a turn: contents, keep and undo, links. */

import { fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { ApiError } from '../../../client/http';
import { fixture } from '../../../model/__tests__/reducerFixtures';
import { pendingEdit } from '../../../model/__tests__/editFixtures';
import { problem } from '../../../model/__tests__/fakes';
import type { Event, PendingEdit } from '../../../wire/generated';
import { act, frame, showPanel } from '../../__tests__/harness';

/** The log up to the end of the first turn, without decisions. */
function ended(): Event[] {
  const { events } = fixture('changes');
  return events.slice(
    0,
    events.findIndex(({ type }) => type === 'turn-end') + 1
  );
}

const EDITS: readonly PendingEdit[] = [
  pendingEdit('e1', { position: 2 }),
  pendingEdit('e2', {
    cell_id: 'c2',
    position: 0,
    baseline: 'old()\nolder()',
    current: null,
    current_version: null,
    hunks: []
  }),
  pendingEdit('e3', {
    document: 'notes.md',
    cell_id: null,
    position: null,
    baseline: null,
    current: '# Notes'
  })
];

async function shown(
  edits: readonly PendingEdit[] = EDITS,
  log: readonly Event[] = ended()
) {
  const panel = await showPanel(log, (_, host) => host.review.have(...edits));
  const list = screen.getByRole('region', { name: 'Changes of this turn' });
  const row = (name: RegExp) =>
    within(list)
      .getAllByRole('listitem')
      .find(each => name.test(each.textContent)) ?? list;
  return { ...panel, list, row };
}

describe('the change list', () => {
  test('stands in the banner, by document and in the order of the cells', async () => {
    const { list, container } = await shown();
    expect(
      container.querySelector('.shoulders-Completed')?.contains(list)
    ).toBe(true);
    expect(within(list).getByText('3 changes')).toBeTruthy();
    const rows = within(list).getAllByRole('listitem');
    expect(rows.map(each => each.textContent)).toEqual([
      'Deleted cellold()−2Keep deletedRestore',
      'Cell 3x = 2+1−1KeepUndo',
      'Moved cell',
      'Cleared outputs',
      'notes.md+1KeepRemove',
      'b.pyformerly a.py',
      'new.ipynb'
    ]);
  });

  test('keeps and undoes each by itself, and all together', async () => {
    const { host, row } = await shown();
    const press = async (inside: HTMLElement, name: RegExp) =>
      act(() => {
        fireEvent.click(within(inside).getByRole('button', { name }));
      });
    await press(row(/Cell 3/), /^Undo: Cell 3/);
    await press(row(/notes/), /^Keep: notes.md/);
    await press(row(/Deleted/), /^Restore: Deleted cell old\(\)/);
    await act(() => {
      fireEvent.click(screen.getByRole('button', { name: 'Keep all' }));
    });
    expect(host.review.done).toEqual([
      ['undo', 'e1'],
      ['keep', 'e3'],
      ['undo', 'e2'],
      ['keep', 'e2', 'e1', 'e3']
    ]);
  });

  test('leads to the change, to the file, and nowhere from what is gone', async () => {
    const { host, row } = await shown();
    fireEvent.click(screen.getByRole('button', { name: 'Cell 3' }));
    fireEvent.click(screen.getByRole('button', { name: 'Deleted cell' }));
    expect(host.review.done).toEqual([
      ['reveal', 'e1'],
      ['reveal', 'e2']
    ]);
    fireEvent.click(screen.getByRole('button', { name: 'notes.md' }));
    fireEvent.click(screen.getByRole('button', { name: 'Moved cell' }));
    expect(host.done).toEqual([
      ['open', 'notes.md'],
      ['open', 'a.ipynb', 'c3']
    ]);
    expect(row(/Deleted/).querySelector('del')?.textContent).toBe('old()');
  });

  test('shows what changed on a click, of what is gone its text', async () => {
    const { row } = await shown();
    for (const [name, text] of [
      [/Cell 3/, '−x = 1+x = 2'],
      [/Deleted/, '−old()−older()']
    ] as const) {
      fireEvent.click(
        within(row(name)).getByRole('button', { name: /What changed/ })
      );
      expect(row(name).querySelector('pre')?.textContent).toBe(text);
    }
  });

  test('says how each was decided, in whatever page, and keeps the focus', async () => {
    const { host, socket, list, row } = await shown();
    within(row(/Cell 3/))
      .getByRole('button', { name: /^Undo/ })
      .focus();
    const { events } = fixture('changes');
    const resolved = events.find(({ type }) => type === 'edit-resolve');
    const at = ended().length;
    const say = (edit_id: string, decision: string, by: number): Event =>
      ({ ...resolved, edit_id, decision, hunks: null, seq: at + by }) as Event;
    await act(() => {
      host.review.have(...EDITS.slice(1, 2));
      socket.deliver([say('e1', 'undo', 1), say('e3', 'keep', 2)]);
    });
    expect(row(/x = 2/).textContent).toBe('Cellx = 2undone');
    expect(row(/notes/).textContent).toBe('notes.mdkept');
    await frame();
    expect(list.contains(document.activeElement)).toBe(true);
    expect(document.activeElement?.textContent).toBe('Keep deleted');
    await act(() => {
      host.review.have();
      socket.deliver([say('e2', 'undo', 3)]);
    });
    expect(row(/old/).textContent).toContain('restored');
  });

  test('tells of a deleted cell whose text is lost, and of a document that cannot be read', async () => {
    const lost = pendingEdit('e2', {
      cell_id: 'c2',
      position: null,
      baseline: null,
      current: null,
      error: problem
    });
    const unread = pendingEdit('e1', { error: problem });
    const { row, host } = await shown([unread, lost]);
    expect(row(/old/).textContent).toContain('cannot be restored here');
    expect(within(row(/old/)).queryByText('Restore')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: /^Dismiss: Deleted/ }));
    expect(host.review.done).toEqual([['keep', 'e2']]);
    expect(row(/x = 2/).textContent).toContain('It broke.');
    expect(within(row(/x = 2/)).queryByText('Undo')).toBeNull();
  });

  test('says why a decision failed', async () => {
    const { host, row } = await shown();
    host.review.failure = new ApiError(409, problem);
    await act(() => {
      fireEvent.click(screen.getByRole('button', { name: /^Keep: notes/ }));
    });
    expect(within(row(/notes/)).getByRole('alert').textContent).toContain(
      'It broke.'
    );
  });

  test('counts what the controls in the documents count', async () => {
    const { host, list } = await shown();
    host.review.countOf = () => 2;
    await act(() => host.review.changed.emit());
    expect(within(list).getByText('6 changes')).toBeTruthy();
  });

  test('is folded where nothing is left to decide, and absent without changes', async () => {
    const { list, unmount } = await shown([]);
    expect(within(list).queryAllByRole('listitem')).toEqual([]);
    fireEvent.click(
      within(list).getByRole('button', { name: 'Changed: 4 cells, 3 files' })
    );
    expect(within(list).getAllByRole('listitem')).toHaveLength(7);
    unmount();
    await showPanel(fixture('totals-and-cards').events.slice(0, 3));
    expect(
      screen.queryByRole('region', { name: 'Changes of this turn' })
    ).toBeNull();
  });
});
