import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { DisposableDelegate } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { PageFrame, ServerFrame } from '../../wire/generated';
import { cellVersion } from '../../wire/versions';
import type { IFrameChannel } from '../documentBridge';
import { NotebookBridge } from '../notebookBridge';
import type { IRecoveryOffer } from '../recovery';
import { open, type FakeContext } from './fakeLab';

class FakeChannel implements IFrameChannel {
  readonly frameReceived = new Signal<this, ServerFrame>(this);
  readonly opened = new Signal<this, void>(this);
  sent: PageFrame[] = [];

  send(frame: PageFrame): boolean {
    this.sent.push(frame);
    return true;
  }

  /** The types of the frames sent since the last call. */
  takeTypes(): string[] {
    return this.sent.splice(0).map(({ type }) => type);
  }
}

class FakeTracker {
  readonly widgetAdded = new Signal<this, NotebookPanel>(this);
  readonly currentChanged = new Signal<this, NotebookPanel | null>(this);
  currentWidget: NotebookPanel | null = null;

  forEach(): void {
    /* No notebook is open at first. */
  }

  /** Show a view of a notebook and make it current. */
  async show(lab: FakeContext): Promise<HTMLElement> {
    const node = document.createElement('div');
    node.append(document.createElement('input'));
    document.body.append(node);
    this.currentWidget = {
      node,
      context: lab.context,
      content: { activeCell: null, widgets: [] },
      disposed: new Signal(lab)
    } as unknown as NotebookPanel;
    this.widgetAdded.emit(this.currentWidget);
    await lab.ready;
    return node;
  }
}

let lab: FakeContext;
let channel: FakeChannel;
let tracker: FakeTracker;
let bridge: NotebookBridge;
let offers: IRecoveryOffer[];
let keptTwice: number;
let elsewhere: [path: string, cells: number][];
let loadFailure: Error | null;

beforeEach(() => {
  lab = open({ id: 'a', source: 'one' }, { id: 'b', source: 'two' });
  channel = new FakeChannel();
  tracker = new FakeTracker();
  offers = [];
  keptTwice = 0;
  elsewhere = [];
  loadFailure = null;
  bridge = new NotebookBridge(channel, {
    notebooks: tracker as unknown as INotebookTracker,
    files: lab.files,
    notifyConflict: () => undefined,
    notifyElsewhere: (path, cells) => elsewhere.push([path, cells]),
    dismissElsewhere: () => undefined,
    loadRecoveryView: async () => {
      if (loadFailure !== null) {
        throw loadFailure;
      }
      return {
        offerRecovery: (_, offer) => {
          offers.push(offer);
          return new DisposableDelegate(() => {
            offers = offers.filter(item => item !== offer);
          });
        },
        notifyConflicts: (_, cells) => {
          keptTwice += cells;
        }
      };
    }
  });
});
afterEach(() => {
  bridge.dispose();
  document.body.replaceChildren();
});

/** The code that shows offers is loaded with the first offer. */
const shown = (count: number): Promise<void> =>
  vi.waitFor(() => expect(offers).toHaveLength(count));

const APPLY = {
  type: 'document-apply',
  claim_epoch: 1,
  deadline_ms: Number.MAX_SAFE_INTEGER,
  path: 'a.ipynb',
  expected: { a: cellVersion('one') },
  edits: [{ kind: 'cell-source', cell_id: 'a', source: 'uno' }]
} as const;

function apply(
  operation_id: string,
  changes: Partial<Extract<ServerFrame, { type: 'document-apply' }>> = {}
): PageFrame | undefined {
  const { edits, ...frame } = APPLY;
  channel.frameReceived.emit({
    ...frame,
    edits: [...edits],
    operation_id,
    ...changes
  });
  return channel.sent.at(-1);
}

describe('DocumentBridge', () => {
  it('announces a notebook with all its text, and that it is in front', async () => {
    await tracker.show(lab);
    expect(channel.sent).toMatchObject([
      {
        type: 'document-open',
        path: 'a.ipynb',
        claim_epoch: 1,
        cells: [{ source: 'one' }, { source: 'two' }],
        dirty: false,
        saved_at: 'modified 1'
      },
      { type: 'document-focus', path: 'a.ipynb' }
    ]);
  });

  it('tells that the agent changed cells in another window', async () => {
    await tracker.show(lab);
    for (const path of ['a.ipynb', 'not-open.ipynb']) {
      channel.frameReceived.emit({
        type: 'document-elsewhere',
        path,
        cells: ['a']
      });
    }
    expect(elsewhere).toEqual([['a.ipynb', 1]]);
  });

  it('applies an edit once, however often it is asked', async () => {
    await tracker.show(lab);
    expect(apply('1')).toMatchObject({
      type: 'document-applied',
      inverse: [{ kind: 'cell-source', cell_id: 'a', source: 'one' }]
    });
    expect(apply('1')?.type).toBe('document-applied');
    expect(lab.sources[0]).toEqual(['a', 'uno']);
    expect(apply('2')).toMatchObject({
      type: 'document-conflict',
      conflicts: [{ cell_id: 'a', current: 'uno', reason: 'changed' }]
    });
  });

  it('refuses what is too late or was meant for an earlier announcement', async () => {
    await tracker.show(lab);
    expect(apply('1', { deadline_ms: 1 })).toMatchObject({
      reason: 'deadline'
    });
    channel.opened.emit();
    expect(apply('2')).toMatchObject({ reason: 'epoch' });
    expect(apply('3', { path: 'z.ipynb' })).toMatchObject({
      reason: 'not_open'
    });
    expect(lab.sources[0]).toEqual(['a', 'one']);
  });

  it('takes two views of a notebook as one, until the last is closed', async () => {
    await tracker.show(lab);
    await tracker.show(lab);
    expect(channel.takeTypes()).toEqual(['document-open', 'document-focus']);
    expect(apply('1')?.type).toBe('document-applied');
    channel.takeTypes();
    lab.type('b', ' typed');
    lab.dispose();
    expect(channel.sent).toEqual([
      { type: 'document-close', path: 'a.ipynb', discarded: true }
    ]);
  });

  it('says at once what is saved, and what is typed when the page goes', async () => {
    await tracker.show(lab);
    channel.sent = [];
    lab.type('b', ' typed');
    expect(channel.sent).toEqual([]);
    bridge.announceAll();
    expect(channel.sent).toMatchObject([
      {
        type: 'document-change',
        dirty: true,
        cells: [{ id: 'b', source: 'two typed' }],
        order: { start: 2, removed: 0, ids: [] }
      }
    ]);
    channel.sent = [];
    lab.save();
    channel.frameReceived.emit({ type: 'document-announce', path: 'a.ipynb' });
    expect(channel.sent).toMatchObject([
      { type: 'document-change', dirty: false, cells: [] },
      { type: 'document-open', cells: [{ source: 'one' }, { id: 'b' }] }
    ]);
  });

  it('says when the user turns to a notebook or to this page', async () => {
    const node = await tracker.show(lab);
    channel.takeTypes();
    node.querySelector('input')?.focus();
    bridge.focus();
    expect(channel.takeTypes()).toEqual(['document-focus', 'document-focus']);
  });

  it('says that a notebook was renamed, and answers by its new name', async () => {
    await tracker.show(lab);
    channel.takeTypes();
    lab.rename('b.ipynb');
    expect(channel.sent).toEqual([
      { type: 'document-rename', path: 'a.ipynb', new_path: 'b.ipynb' }
    ]);
    expect(apply('1', { path: 'b.ipynb' })?.type).toBe('document-applied');
  });

  it('says that the user took a run over, once', async () => {
    await tracker.show(lab);
    channel.takeTypes();
    bridge.userRunStarted(lab.context, 'a');
    const run = { run_id: 'r', path: 'a.ipynb', cell_id: 'a' };
    channel.frameReceived.emit({
      type: 'cell-run-start',
      in_room: false,
      ...run
    });
    bridge.userRunStarted(lab.context, 'a');
    bridge.userRunStarted(lab.context, 'a');
    expect(channel.sent).toEqual([{ type: 'cell-run-taken', ...run }]);
  });

  it('takes the file up when another page saved it, and announces that', async () => {
    await tracker.show(lab);
    channel.takeTypes();
    lab.files.write({ id: 'a', source: 'uno' }, { id: 'b', source: 'two' });
    channel.frameReceived.emit({ type: 'document-saved', path: 'a.ipynb' });
    await vi.waitFor(() => expect(lab.sources[0]).toEqual(['a', 'uno']));
    await vi.waitFor(() =>
      expect(channel.sent.at(-1)).toMatchObject({
        type: 'document-change',
        dirty: false,
        saved_at: 'modified 2'
      })
    );
  });

  it('looks at the file when the page was away', async () => {
    await tracker.show(lab);
    lab.files.write({ id: 'a', source: 'uno' }, { id: 'b', source: 'two' });
    lab.type('b', ' typed');
    channel.takeTypes();
    channel.opened.emit();
    await vi.waitFor(() =>
      expect(lab.sources).toEqual([
        ['a', 'uno'],
        ['b', 'two typed']
      ])
    );
    expect(channel.sent[0]).toMatchObject({
      type: 'document-open',
      claim_epoch: 2
    });
  });

  describe('text that a page left behind', () => {
    const recovery = (
      ...cells: [string, string | null, string][]
    ): ServerFrame => ({
      type: 'document-recovery',
      path: 'a.ipynb',
      recovery_id: 'copy',
      at: '2026-11-21T12:00:00Z',
      author: 'user',
      cells: cells.map(([id, base, source]) => ({
        id,
        cell_type: 'code',
        after: id === 'n' ? 'a' : null,
        base,
        source
      }))
    });
    const answer = {
      type: 'document-recovery-answer',
      path: 'a.ipynb',
      recovery_id: 'copy'
    };

    it('is restored as one step, announced before it is answered', async () => {
      await tracker.show(lab);
      channel.frameReceived.emit(
        recovery(['b', 'two', 'two, typed'], ['n', null, 'new'])
      );
      await shown(1);
      channel.takeTypes();
      offers[0]?.restore();
      expect(lab.sources).toEqual([
        ['a', 'one'],
        ['n', 'new'],
        ['b', 'two, typed']
      ]);
      expect(lab.model.dirty).toBe(true);
      expect(channel.sent.map(frame => frame.type)).toEqual([
        'document-change',
        'document-recovery-answer'
      ]);
      expect(channel.sent[1]).toEqual({ ...answer, action: 'restored' });
      expect(offers).toEqual([]);
      lab.model.sharedModel.undo();
      expect(lab.sources).toEqual([
        ['a', 'one'],
        ['b', 'two']
      ]);
    });

    it('is kept beside what was changed since', async () => {
      await tracker.show(lab);
      lab.type('b', ' now');
      channel.frameReceived.emit(recovery(['b', 'two', 'two, typed']));
      await shown(1);
      expect(offers[0]?.compare()).toEqual([
        { id: 'b', number: 2, before: 'two now', after: 'two, typed' }
      ]);
      offers[0]?.restore();
      expect(lab.sources.map(([, source]) => source)).toEqual([
        'one',
        'two now',
        'two, typed'
      ]);
      expect(lab.model.sharedModel.cells[2]?.cell_type).toBe('raw');
      expect(keptTwice).toBe(1);
    });

    it('is thrown away when the user says so, once', async () => {
      await tracker.show(lab);
      const frame = recovery(['b', 'two', 'two, typed']);
      channel.frameReceived.emit(frame);
      channel.frameReceived.emit(frame);
      await shown(1);
      channel.takeTypes();
      offers[0]?.discard();
      expect(offers).toEqual([]);
      expect(lab.sources[1]).toEqual(['b', 'two']);
      // The answer was lost: the server repeats the request and gets the same answer.
      channel.frameReceived.emit(frame);
      const discarded = { ...answer, action: 'discarded' };
      await vi.waitFor(() =>
        expect(channel.sent).toEqual([discarded, discarded])
      );
      expect(offers).toEqual([]);
    });

    it('is offered no more when another page decided, or it is closed', async () => {
      await tracker.show(lab);
      const frame = recovery(['b', 'two', 'two, typed']);
      channel.frameReceived.emit(frame);
      await shown(1);
      channel.frameReceived.emit({
        type: 'document-recovered',
        path: 'a.ipynb',
        recovery_id: 'copy'
      });
      await shown(0);
      channel.frameReceived.emit(frame);
      await shown(1);
      lab.dispose();
      await shown(0);
    });

    it('is offered again when its part of the page could not be loaded', async () => {
      const warned = vi.spyOn(console, 'warn').mockReturnValue(undefined);
      loadFailure = new Error('offline');
      await tracker.show(lab);
      const frame = recovery(['b', 'two', 'two, typed']);
      channel.frameReceived.emit(frame);
      await vi.waitFor(() => expect(warned).toHaveBeenCalledOnce());
      loadFailure = null;
      channel.frameReceived.emit(frame);
      await shown(1);
    });
  });
});
