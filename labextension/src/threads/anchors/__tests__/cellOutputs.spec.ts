/** Which output a thread is about when several have the same text, and after outputs are replaced. */

import { CodeCellModel, type ICodeCellModel } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import { NotebookModel } from '@jupyterlab/notebook';
import { expect, test } from 'vitest';

import table from '../../../../../tests/wire/fixtures/output_places.json';
import { locateOutput } from '../outputAnchors';
import type { Session } from '../../../wire/generated';
import { anchorOfCell } from '../newAnchors';
import { ThreadDocument, type Context } from '../../threadDocument';
import { outputAt, outputMemory } from '../cellOutputs';

function result(text: string): IOutput {
  return {
    output_type: 'display_data',
    data: { 'text/plain': text },
    metadata: {}
  };
}

test.each(table)('$name', ({ quotes, quote, output, found }) => {
  expect(locateOutput(quotes, { quote, output })).toEqual(found);
});

test('an output that reads as another is known by its place', () => {
  const model = new CodeCellModel();
  const { outputs } = model;
  ['rows', '42', '42'].forEach(text => outputs.add(result(text)));
  const memory = outputMemory(outputs, 2);
  expect(memory).toEqual({
    quote: '42',
    output: { index: 2, nth: 1, alike: 2 }
  });
  expect(outputAt(outputs, memory)).toEqual({ index: 2, certainty: 'exact' });
  model.dispose();
});

test('the place of a thread is as sure as that of its output', () => {
  const model = new NotebookModel();
  model.sharedModel.insertCell(0, { cell_type: 'code', id: 'c', source: '' });
  const context = { model, localPath: 'a.ipynb' };
  // The document reads only the model and the path.
  const document = new ThreadDocument(context as unknown as Context, true);
  const { outputs } = model.cells.get(0) as ICodeCellModel;
  ['42', '42'].forEach(text => outputs.add(result(text)));
  const anchor = anchorOfCell('a.ipynb', 'c', '', outputMemory(outputs, 1));
  document.setThreads([{ id: 't', anchor } as Session]);
  let reread = 0;
  document.reread.connect(() => (reread += 1));
  const certainty = (): string | undefined =>
    document.of('t')?.anchor.certainty;
  expect(certainty()).toBe('exact');

  outputs.add(result('42'));
  expect(certainty()).toBe('approximate');
  expect(document.anchorToReport('t')?.output).toEqual({
    index: 1,
    nth: 1,
    alike: 2
  });

  outputs.clear();
  expect(certainty()).toBe('approximate');
  ['42', '42'].forEach(text => outputs.add(result(text)));
  expect(certainty()).toBe('exact');
  expect(reread).toBe(4);

  const before = document.of('t');
  outputs.add({ output_type: 'stream', name: 'stdout', text: 'more' });
  document.of('t');
  const told = reread;
  outputs.add({ output_type: 'stream', name: 'stdout', text: ' and more' });
  expect(reread).toBe(told); // Further printing does not move outputs.
  expect(document.of('t')).toEqual(before);
  document.dispose();
});
