import { YFile } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { applyUpdate, encodeStateAsUpdate } from 'yjs';

import type { IHttpClient } from '../../client/http';
import { session } from '../../model/__tests__/fakes';
import type { MoveAnchors, MovedAnchors } from '../../wire/generated';
import { anchorOfText } from '../anchors/newAnchors';
import { ThreadDocument, type Context } from '../threadDocument';
import { AnchorReporter } from '../anchorReporter';

const TEXT = 'one = 1\ntwo = 2\n';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A file with a thread on its second line. */
function scene(mark = '') {
  const shared = new YFile();
  shared.setSource(mark + TEXT);
  const saveState = new Signal<object, DocumentRegistry.SaveState>({});
  const model = { sharedModel: shared, collaborative: false };
  // The reporter reads only these members.
  const context = { localPath: 'a.py', model, saveState } as unknown as Context;
  const document = new ThreadDocument(context, false);
  const place = { document: 'a.py', cellId: null };
  const anchor = anchorOfText(place, TEXT, { from: 8, to: 15 });
  document.setThreads([session('t', { kind: 'task', anchor })]);
  document.takeMoved();
  const sent: MoveAnchors[] = [];
  const server = { isAway: false, reports: 0 };
  const http: Pick<IHttpClient, 'call'> = {
    call: <T>(_: string, __: string, body?: unknown) => {
      if (server.isAway) {
        return Promise.reject(new Error('away'));
      }
      sent.push(body as MoveAnchors);
      const answer: MovedAnchors = { moved: ['t'], refused: [] };
      return Promise.resolve(answer as T);
    }
  };
  const reporter = new AnchorReporter(http, document, () => server.reports++);
  const ranges = () =>
    sent.map(({ moved }) => moved.map(({ anchor: { range } }) => range));
  const saved = () => saveState.emit('completed');
  return { shared, document, reporter, server, ranges, saved, sent };
}

test('many keys are reported once, after a pause', async () => {
  const { shared, ranges } = scene();
  shared.updateSource(0, 0, '#');
  await vi.advanceTimersByTimeAsync(1_000);
  shared.updateSource(0, 0, '#');
  expect(ranges()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ranges()).toEqual([[{ from: 10, to: 17 }]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ranges()).toHaveLength(1);
});

test('a save is reported at once', async () => {
  const { shared, ranges, saved } = scene();
  shared.updateSource(0, 0, '#');
  saved();
  await vi.advanceTimersByTimeAsync(0);
  expect(ranges()).toEqual([[{ from: 9, to: 16 }]]);
});

test('what came back to where it was is not told', async () => {
  const { shared, ranges } = scene();
  shared.updateSource(0, 0, '#');
  shared.updateSource(0, 1, '');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ranges()).toEqual([]);
});

test('what another page did that page tells', async () => {
  const { shared, document, ranges } = scene();
  const other = new YFile();
  applyUpdate(other.ydoc, encodeStateAsUpdate(shared.ydoc));
  other.updateSource(0, 0, '#');
  applyUpdate(shared.ydoc, encodeStateAsUpdate(other.ydoc));
  other.dispose();
  expect(document.of('t')?.anchor.range).toEqual({ from: 9, to: 16 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ranges()).toEqual([]);
});

test('failed reports are repeated later', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const { shared, server, ranges } = scene();
  server.isAway = true;
  shared.updateSource(0, 0, '#');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(warn).toHaveBeenCalled();
  server.isAway = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ranges()).toEqual([[{ from: 9, to: 16 }]]);
  warn.mockRestore();
});

test('nothing is reported once the document is closed', async () => {
  const { shared, reporter, ranges } = scene();
  shared.updateSource(0, 0, '#');
  reporter.dispose();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ranges()).toEqual([]);
});

test('a byte-order mark does not count in reported positions', async () => {
  const { shared, document, ranges } = scene('\ufeff');
  expect(document.of('t')?.anchor.range).toEqual({ from: 9, to: 16 });
  expect(document.takeMoved()).toEqual([]);
  shared.updateSource(1, 1, '#');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ranges()).toEqual([[{ from: 9, to: 16 }]]);
});
