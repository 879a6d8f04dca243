import { YNotebook } from '@jupyter/ydoc';
import { expect, test } from 'vitest';

import type { IHttpClient } from '../../client/http';
import { anchorOfText } from '../anchorAt';
import type { Context } from '../document';
import { KeptThreads } from '../kept';
import { Tracker } from '../tracker';

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
  const tracker = new Tracker(shared.ydoc, true);
  const place = { document: 'a.ipynb', cellId: 'c1' };
  tracker.track('t', anchorOfText(place, 'x = 1', { from: 4, to: 5 }));
  const values = { threads: { keep_in_notebook: isWanted } };
  const http: Pick<IHttpClient, 'call'> = {
    call: <T>() => Promise.resolve({ values } as T)
  };
  const kept = new KeptThreads(http, {
    // The list is all it reads of it.
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
  return { kept, type, ranges };
}

test('a file that is about to be saved has the places as they are', async () => {
  const { kept, type, ranges } = scene(true);
  kept.writeNow();
  expect(ranges()).toBeUndefined(); // Nobody knows yet what the user wants.
  await kept.write();
  expect(ranges()).toEqual([{ from: 4, to: 5 }]);
  type();
  kept.writeNow();
  expect(ranges()).toEqual([{ from: 6, to: 7 }]);
});

test('nothing is written that the user does not want', async () => {
  const { kept, ranges } = scene(false);
  await kept.write();
  kept.writeNow();
  expect(ranges()).toBeUndefined();
});
