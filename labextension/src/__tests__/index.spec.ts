import { expect, test } from 'vitest';

import plugins from '..';
import { EXTENSION_ID } from '../tokens';

test('each plugin has a distinct id under the extension and a description', () => {
  const ids = plugins.map(plugin => plugin.id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const plugin of plugins) {
    expect(plugin.id).toMatch(new RegExp(`^${EXTENSION_ID}:[a-z-]+$`));
    expect(plugin.description).toBeTruthy();
  }
});
