/** A quote ends with a whole character: the server rejects lone surrogates. */

import { YNotebook } from '@jupyter/ydoc';
import { CodeCellModel } from '@jupyterlab/cells';
import { expect, test } from 'vitest';

import { anchorOfCell, anchorOfText } from '../../anchors/newAnchors';
import { outputMemory } from '../../anchors/cellOutputs';
import { ThreadTracker } from '../tracker';

const FACE = '\u{1f600}';

function notebook(source: string): YNotebook {
  const shared = new YNotebook();
  shared.insertCell(0, { cell_type: 'code', id: 'c1', source });
  return shared;
}

test('the quote of a long cell that was changed ends with a whole character', () => {
  const source = `${'a'.repeat(1998)}${FACE}${FACE}`;
  const shared = notebook(source);
  const tracker = new ThreadTracker(shared.ydoc, true);
  tracker.track('t', anchorOfCell('a.ipynb', 'c1', source, null));
  shared.cells[0]?.updateSource(0, 0, 'b');
  const { quote } = tracker.anchor('t', 'a.ipynb', true) ?? {};
  tracker.dispose();
  expect(quote).toBe(`b${'a'.repeat(1998)}${FACE}`);
});

test('the quote of a long selection that grew ends with a whole character', () => {
  const source = `x${'a'.repeat(19_998)}${FACE}${FACE}z`;
  const place = { document: 'a.ipynb', cellId: 'c1' };
  const shared = notebook(source);
  const tracker = new ThreadTracker(shared.ydoc, true);
  const part = { from: 1, to: source.length - 1 };
  tracker.track('t', anchorOfText(place, source, part));
  shared.cells[0]?.updateSource(5, 5, 'b');
  const anchor = tracker.anchor('t', 'a.ipynb', true);
  tracker.dispose();
  expect(anchor?.quote.endsWith(`a${FACE}`)).toBe(true);
  expect(anchor?.range?.to).toBe(1 + (anchor?.quote.length ?? 0));
});

test('the quote of a long output ends with a whole character', () => {
  const model = new CodeCellModel();
  model.outputs.add({
    output_type: 'stream',
    name: 'stdout',
    text: `${'a'.repeat(1999)}${FACE}${FACE}`
  });
  const { quote } = outputMemory(model.outputs, 0);
  expect(quote).toBe(`${'a'.repeat(1999)}${FACE}`);
  model.dispose();
});
