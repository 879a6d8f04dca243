import { Signal } from '@lumino/signaling';
import { expect, test } from 'vitest';

import { FakeServer, FakeSocket } from '../../model/__tests__/fakes';
import type { ReviewController } from '../../review/controller';
import { PendingEditsStore } from '../../review/pendingEdits';
import { LazyReview } from '../review';

test('a review that could not be loaded is loaded when it is asked for again', async () => {
  const store = new PendingEditsStore(new FakeServer(), new FakeSocket());
  const revealed: unknown[] = [];
  // Only the members called here.
  const page = {
    changed: new Signal<object, void>({}),
    reveal: async (edit: unknown) => revealed.push(edit)
  } as unknown as ReviewController;
  const answers = [
    () => Promise.reject(new Error('offline')),
    async () => page
  ];
  const load = (): Promise<ReviewController> =>
    answers.shift()?.() ?? Promise.reject(new Error('asked too often'));
  const reviewing = new LazyReview(store, load, () => undefined);
  const edit = {} as Parameters<LazyReview['reveal']>[0]; // Passed on without being read.

  await expect(reviewing.reveal(edit)).rejects.toThrow('offline');
  await reviewing.reveal(edit);
  await reviewing.reveal(edit);

  expect(revealed).toEqual([edit, edit]);
});
