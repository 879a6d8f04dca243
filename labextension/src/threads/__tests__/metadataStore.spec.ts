import { YNotebook } from '@jupyter/ydoc';
import type { PartialJSONObject } from '@lumino/coreutils';
import { expect, test, vi } from 'vitest';

import type { IHttpClient } from '../../client/http';
import type { AdoptedThreads, AdoptThreads } from '../../wire/generated';
import { anchorOfCell, anchorOfText } from '../anchors/newAnchors';
import type { Context } from '../threadDocument';
import { ThreadMetadataStore } from '../metadataStore';
import { ThreadTracker } from '../tracking/tracker';

function scene(isWanted: boolean) {
  const shared = new YNotebook();
  shared.fromJSON({
    ...{ metadata: {}, nbformat: 4, nbformat_minor: 5 },
    cells: [
      {
        cell_type: 'code',
        id: 'c1',
        source: 'x = 1',
        metadata: {},
        outputs: [],
        execution_count: null
      }
    ]
  });
  const tracker = new ThreadTracker(shared.ydoc, true);
  const place = { document: 'a.ipynb', cellId: 'c1' };
  tracker.track('t', anchorOfText(place, 'x = 1', { from: 4, to: 5 }));
  const values = { threads: { keep_in_notebook: isWanted } };
  const adopted: AdoptedThreads = { adopted: [], unknown: [], refused: [] };
  const http: Pick<IHttpClient, 'call'> = {
    call: <T>(_: string, route: string) =>
      Promise.resolve((route === 'settings' ? { values } : adopted) as T)
  };
  const kept = new ThreadMetadataStore(http, {
    // The store reads only this member.
    context: { model: { sharedModel: shared } } as unknown as Context,
    path: 'a.ipynb',
    tracker,
    isDisposed: false
  });
  const type = (): void => shared.cells[0]?.updateSource(0, 0, '# ');
  const ranges = (): unknown =>
    (
      shared.getMetadata('jupyter_ai_shoulders') as
        { threads: { range: unknown }[] } | undefined
    )?.threads.map(({ range }) => range);
  const want = (wanted: boolean): void => {
    values.threads.keep_in_notebook = wanted;
  };
  return { kept, type, ranges, want, shared, adopted, tracker, http };
}

/** An entry of the list as a notebook file has it. */
function item(id: string) {
  const texts = { quote: '1', prefix: 'x = ', suffix: '' };
  const range = { from: 4, to: 5 };
  return { id, cell_id: 'c1', target: 'source', range, ...texts };
}

test('a file that is about to be saved has the places as they are', async () => {
  const { kept, type, ranges } = scene(true);
  kept.writeNow();
  expect(ranges()).toBeUndefined(); // The settings are not known yet.
  await kept.write();
  expect(ranges()).toEqual([{ from: 4, to: 5 }]);
  type();
  kept.writeNow();
  expect(ranges()).toEqual([{ from: 6, to: 7 }]);
});

test('which output a thread is about goes along with the file', async () => {
  const { kept, tracker, shared, adopted, http } = scene(true);
  const output = { index: 1, nth: 1, alike: 2 };
  const about = { quote: '42', output };
  tracker.track('o', anchorOfCell('a.ipynb', 'c1', 'x = 1', about));
  await kept.write();
  const list = shared.getMetadata('jupyter_ai_shoulders') as {
    threads: object[];
  };
  expect(list.threads[1]).toMatchObject({ id: 'o', quote: '42', output });
  const odd = { ...item('odd'), output: { index: -1, nth: 0, alike: 0 } };
  shared.setMetadata('jupyter_ai_shoulders', {
    threads: [...(list.threads as PartialJSONObject[]), odd]
  });
  const asked = vi.spyOn(http, 'call').mockResolvedValue(adopted);
  await kept.adopt();
  const { threads } = asked.mock.calls[0]?.[2] as AdoptThreads;
  expect(threads.map(({ anchor }) => anchor.output)).toEqual([null, output]);
});

test('nothing is written that the user does not want', async () => {
  const { kept, ranges } = scene(false);
  await kept.write();
  kept.writeNow();
  expect(ranges()).toBeUndefined();
});

test('the list goes when the user wants it no longer, and nothing else', async () => {
  const { kept, want, shared } = scene(true);
  await kept.write();
  want(false);
  await kept.write();
  expect(shared.getMetadata('jupyter_ai_shoulders')).toBeUndefined();

  shared.setMetadata('jupyter_ai_shoulders', { private: true });
  want(true);
  await kept.write();
  want(false);
  await kept.write();
  expect(shared.getMetadata('jupyter_ai_shoulders')).toEqual({ private: true });
});

test.each([true, false])(
  'what others have in the list stays where it is wanted: %s',
  async wanted => {
    const { kept, shared, adopted } = scene(wanted);
    const strange = { of: 'another program' };
    const threads = [item('theirs'), item('origin'), strange];
    shared.setMetadata('jupyter_ai_shoulders', { threads });
    adopted.unknown = ['theirs'];
    adopted.adopted = [{ from: 'origin', to: 't' }];
    expect(await kept.adopt()).toBe(true);
    await kept.write();
    const own = wanted ? [item('t')] : [];
    expect(shared.getMetadata('jupyter_ai_shoulders')).toEqual({
      threads: [...own, item('theirs'), strange]
    });
  }
);

test('a thread that is gone goes from the list', async () => {
  const { kept, tracker, ranges, shared } = scene(true);
  await kept.write();
  expect(ranges()).toHaveLength(1);
  tracker.untrack('t');
  await kept.write();
  expect(shared.getMetadata('jupyter_ai_shoulders')).toBeUndefined();
});

test('a list nobody could ask the server about stays as it is', async () => {
  const { kept, shared } = scene(false);
  const threads = [item('theirs')];
  shared.setMetadata('jupyter_ai_shoulders', { threads });
  await kept.write();
  expect(shared.getMetadata('jupyter_ai_shoulders')).toEqual({ threads });
});
