/** Typing away from a thread costs nothing, however uncertain the thread is. */

import { YNotebook } from '@jupyter/ydoc';
import { expect, test } from 'vitest';

import { anchorOfText } from '../../anchors/newAnchors';
import { ThreadTracker } from '../tracker';

const SOURCES = ['first = 1', 'second = 2'];

test.each([
  { name: 'uncertain', certainty: 'approximate', quote: SOURCES[0] },
  { name: 'lost', certainty: 'orphaned', quote: 'gone and forgotten' }
] as const)(
  'a key in another cell moves no thread that is $name, and a word of it may',
  ({ certainty, quote = '' }) => {
    const shared = new YNotebook();
    SOURCES.forEach((source, at) =>
      shared.insertCell(at, { cell_type: 'code', id: `c${at}`, source })
    );
    const tracker = new ThreadTracker(shared.ydoc, true);
    const place = { document: 'a.ipynb', cellId: 'c0' };
    const range = { from: 0, to: 9 };
    const anchor = anchorOfText(place, SOURCES[0] ?? '', range);
    tracker.track('t', { ...anchor, quote, certainty });
    const moved: string[] = [];
    tracker.moved.connect((_, { ids }) => moved.push(...ids));
    const before = tracker.positionOf('t');
    shared.cells[1]?.updateSource(0, 0, 'x');
    expect([moved, tracker.positionOf('t')]).toEqual([[], before]);
    shared.cells[0]?.updateSource(0, 0, 'x');
    shared.cells[1]?.updateSource(0, 0, `${quote}\n`);
    expect(tracker.positionOf('t')).not.toEqual(before);
    tracker.dispose();
    shared.dispose();
  }
);
