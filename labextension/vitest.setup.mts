/**
 * What every unit test finds in place: the parts of a browser that jsdom lacks and our modules or JupyterLab's
 * need, and an empty page after each test. Started by vitest, see vitest.config.mts.
 */

import * as webStreams from 'node:stream/web';

import { cleanup } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

class NoLayoutObserver {
  observe(): void {
    /* jsdom has no layout, so nothing ever changes size or comes into view. */
  }
  unobserve(): void {
    /* see observe */
  }
  disconnect(): void {
    /* see observe */
  }
}

const noMediaMatches = (media: string) =>
  Object.assign(new EventTarget(), { matches: false, media });

const standIns = {
  ...webStreams,
  DragEvent: class extends MouseEvent {},
  IntersectionObserver: NoLayoutObserver,
  ResizeObserver: NoLayoutObserver,
  matchMedia: noMediaMatches
};
for (const [name, value] of Object.entries(standIns)) {
  if (Reflect.get(globalThis, name) === undefined) {
    vi.stubGlobal(name, value);
  }
}

afterEach(cleanup);
