import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import { DisposableDelegate } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { PageFrame, ServerFrame } from '../../wire/generated';
import { textVersion } from '../../wire/versions';
import type { IFrameChannel } from '../documentBridge';
import { TextBridge } from '../textBridge';
import { openText, type FakeTextContext } from './fakeTextLab';

type Widget = IDocumentWidget<FileEditor>;

class FakeChannel implements IFrameChannel {
  readonly frameReceived = new Signal<this, ServerFrame>(this);
  readonly opened = new Signal<this, void>(this);
  sent: PageFrame[] = [];
  isOpen = true;

  send(frame: PageFrame): boolean {
    if (this.isOpen) {
      this.sent.push(frame);
    }
    return this.isOpen;
  }

  /** The types of the frames sent since the last call. */
  takeTypes(): string[] {
    return this.sent.splice(0).map(({ type }) => type);
  }
}

class FakeTracker {
  readonly widgetAdded = new Signal<this, Widget>(this);
  readonly currentChanged = new Signal<this, Widget | null>(this);
  currentWidget: Widget | null = null;
  widgets: Widget[] = [];

  forEach(each: (widget: Widget) => void): void {
    this.widgets.forEach(each);
  }

  filter(test: (widget: Widget) => boolean): Widget[] {
    return this.widgets.filter(test);
  }

  find(test: (widget: Widget) => boolean): Widget | undefined {
    return this.widgets.find(test);
  }

  /** Show a view of a text and make it current. */
  async show(lab: FakeTextContext): Promise<Widget> {
    const widget = {
      node: document.createElement('div'),
      context: lab.context,
      content: { editor: { editor: { view: this.widgets.length } } },
      disposed: new Signal(lab)
    } as unknown as Widget;
    this.currentWidget = widget;
    this.widgets.push(widget);
    this.widgetAdded.emit(widget);
    await lab.ready;
    return widget;
  }
}

let lab: FakeTextContext;
let channel: FakeChannel;
let tracker: FakeTracker;
let bridge: TextBridge;

beforeEach(() => {
  lab = openText('one\n');
  channel = new FakeChannel();
  tracker = new FakeTracker();
  bridge = new TextBridge(channel, {
    editors: tracker as unknown as IEditorTracker,
    files: lab.files,
    askConflict: () => new DisposableDelegate(() => undefined)
  });
});
afterEach(() => {
  bridge.dispose();
  lab.dispose();
});

function apply(
  operation_id: string,
  changes: Partial<Extract<ServerFrame, { type: 'text-apply' }>> = {}
): PageFrame[] {
  const before = channel.sent.length;
  channel.frameReceived.emit({
    type: 'text-apply',
    operation_id,
    claim_epoch: 1,
    deadline_ms: Number.MAX_SAFE_INTEGER,
    path: 'a.py',
    expected: textVersion('one\n'),
    text: 'uno\n',
    ...changes
  });
  return channel.sent.slice(before);
}

const settled = (): Promise<void> =>
  new Promise(resolve => setTimeout(resolve));

describe('TextBridge', () => {
  it('announces a text by its version, and that it is in front', async () => {
    await tracker.show(lab);
    expect(channel.sent).toEqual([
      {
        type: 'text-open',
        path: 'a.py',
        claim_epoch: 1,
        version: textVersion('one\n'),
        dirty: false,
        writable: true,
        saved_at: 'modified 1'
      },
      { type: 'text-focus', path: 'a.py' }
    ]);
  });

  it('announces a text once, however many views it has', async () => {
    await tracker.show(lab);
    channel.takeTypes();
    await tracker.show(lab);
    expect(channel.takeTypes()).toEqual([]);
    expect(bridge.views('a.py')).toEqual([{ view: 0 }, { view: 1 }]);
  });

  it('announces what is typed when typing pauses, and before the page goes', async () => {
    await tracker.show(lab);
    vi.useFakeTimers();
    channel.takeTypes();
    lab.type('t');
    lab.type('wo');
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    expect(channel.sent).toMatchObject([
      { type: 'text-change', version: textVersion('one\ntwo'), dirty: true }
    ]);
    channel.takeTypes();
    bridge.announceAll();
    expect(channel.takeTypes()).toEqual([]); // Nothing changed since.
    lab.type('!');
    bridge.announceAll();
    expect(channel.takeTypes()).toEqual(['text-change']);
  });

  it('claims its texts again after a reconnection', async () => {
    await tracker.show(lab);
    channel.isOpen = false;
    lab.type('typed');
    bridge.announceAll();
    channel.isOpen = true;
    channel.takeTypes();
    channel.opened.emit();
    expect(channel.sent).toMatchObject([
      { type: 'text-open', claim_epoch: 2, dirty: true },
      { type: 'text-focus' }
    ]);
    expect(apply('1')).toMatchObject([
      { type: 'text-refused', reason: 'epoch' }
    ]);
  });

  it('sends the text as it is', async () => {
    await tracker.show(lab);
    lab.type('typed');
    channel.takeTypes();
    const read = { operation_id: '1', claim_epoch: 1, path: 'a.py' };
    channel.frameReceived.emit({ type: 'text-read', ...read });
    expect(channel.sent).toEqual([
      {
        type: 'text-content',
        operation_id: '1',
        path: 'a.py',
        text: 'one\ntyped',
        dirty: true
      }
    ]);
  });

  it('changes a clean text and saves it', async () => {
    await tracker.show(lab);
    expect(apply('1')).toMatchObject([
      { type: 'text-applied', version: textVersion('uno\n'), saves: true },
      { type: 'text-change', dirty: true }
    ]);
    await settled();
    expect(lab.files.content).toBe('uno\n');
    expect(channel.sent.at(-1)).toMatchObject({
      type: 'text-change',
      dirty: false,
      saved_at: 'modified 2'
    });
  });

  it('changes a text with unsaved changes and leaves it unsaved', async () => {
    await tracker.show(lab);
    lab.type('typed');
    const [answer] = apply('1', {
      expected: textVersion('one\ntyped'),
      text: 'uno\ntyped'
    });
    expect(answer).toMatchObject({ type: 'text-applied', saves: false });
    await settled();
    expect([lab.text, lab.saves]).toEqual(['uno\ntyped', 0]);
  });

  it('applies a change once, however often it is asked', async () => {
    await tracker.show(lab);
    const [first] = apply('1');
    expect(apply('1')).toEqual([first]);
    expect(lab.text).toBe('uno\n');
    expect(apply('2')).toEqual([
      {
        type: 'text-conflict',
        operation_id: '2',
        text: 'uno\n',
        dirty: true
      }
    ]);
  });

  it.each([
    ['too late', 'deadline', { deadline_ms: 1 }],
    ['meant for an earlier announcement', 'epoch', { claim_epoch: 0 }],
    ['about another file', 'not_open', { path: 'b.py' }]
  ])('refuses what is %s', async (_, reason, changes) => {
    await tracker.show(lab);
    expect(apply('1', changes)).toMatchObject([
      { type: 'text-refused', reason }
    ]);
    expect(lab.text).toBe('one\n');
  });

  it('refuses to change what is read-only', async () => {
    await tracker.show(lab);
    lab.model.readOnly = true;
    expect(apply('1')).toMatchObject([
      { type: 'text-refused', reason: 'read_only' }
    ]);
  });

  it('loads what others wrote when the server reports it', async () => {
    await tracker.show(lab);
    lab.files.write('two\n');
    channel.frameReceived.emit({ type: 'text-saved', path: 'a.py' });
    await settled();
    expect([lab.text, lab.model.dirty]).toEqual(['two\n', false]);
    expect(channel.sent.at(-1)).toMatchObject({
      version: textVersion('two\n'),
      dirty: false,
      saved_at: 'modified 2'
    });
  });

  it('says what a text is called now, and that it is closed', async () => {
    await tracker.show(lab);
    channel.takeTypes();
    lab.rename('b.py');
    expect(bridge.find('b.py')?.context).toBe(lab.context);
    expect(bridge.find('a.py')).toBeNull();
    lab.type('typed');
    channel.takeTypes();
    lab.disposed.emit();
    expect(channel.sent).toEqual([
      { type: 'text-close', path: 'b.py', discarded: true }
    ]);
    expect(bridge.find('b.py')).toBeNull();
  });

  it('tells others of texts that open, get another path and close', async () => {
    const told = vi.fn();
    bridge.changed.connect(told);
    await tracker.show(lab);
    await settled();
    expect(told).toHaveBeenCalledTimes(1);
    lab.rename('b.py');
    lab.disposed.emit();
    expect(told).toHaveBeenCalledTimes(3);
  });

  it('knows which file a view shows', async () => {
    await tracker.show(lab);
    const [view] = bridge.views('a.py');
    expect(view === undefined ? null : bridge.pathOf(view)).toBe('a.py');
    expect(bridge.views('b.py')).toEqual([]);
  });
});
