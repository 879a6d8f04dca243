import { expect, test, vi } from 'vitest';

import { LazyLoader, type ILoaded } from '../lazyLoader';

function scene() {
  const configured: unknown[] = [];
  const page: ILoaded = {
    controller: { settingsLoaded: async () => undefined },
    inline: { configure: settings => configured.push(settings) }
  };
  const load = vi.fn(async () => page);
  return { configured, page, load, loading: new LazyLoader(load) };
}

test('the settings of the lab load nothing, and hold once it is loaded', async () => {
  const { configured, page, load, loading } = scene();
  loading.configure({ timeout: 1 });
  loading.configure({ timeout: 2 });
  expect(load).not.toHaveBeenCalled();
  expect(await loading.get()).toBe(page);
  expect(configured).toEqual([{ timeout: 2 }]);
  loading.configure({ timeout: 3 });
  expect(configured).toEqual([{ timeout: 2 }, { timeout: 3 }]);
});

test('they are loaded once, and again only when that failed', async () => {
  const { page, load, loading } = scene();
  const error = vi.spyOn(console, 'error').mockReturnValue();
  load.mockRejectedValueOnce(new Error('offline'));
  await loading.settingsLoaded();
  expect(error).toHaveBeenCalledOnce();
  expect(loading.loaded).toBeNull();
  loading.startLoading();
  await loading.settingsLoaded();
  expect(loading.loaded).toBe(page);
  expect(load).toHaveBeenCalledTimes(2);
});
