import type { YCodeCell } from '@jupyter/ydoc';
import { NotebookModel } from '@jupyterlab/notebook';
import type { KernelMessage } from '@jupyterlab/services';
import { afterEach, expect, test } from 'vitest';
import { applyUpdate, encodeStateAsUpdate, type Doc } from 'yjs';

import { restoreTranscript } from '../savedTranscripts';

function html(name: string, said: string): string {
  return `<div class="shoulders-transcript shoulders-transcript-${name}" style="">${said}</div>`;
}

/** A notebook with a panel's view and its transcript, as loaded from a file. */
function open(...said: string[]): NotebookModel {
  const outputs = said.map(text => ({
    output_type: 'display_data',
    data: { 'text/html': text },
    metadata: {}
  }));
  const cell = { cell_type: 'code', id: 'one', source: '', metadata: {} };
  const model = kept(new NotebookModel());
  model.fromJSON({
    cells: [
      { cell_type: 'markdown', id: 'text', source: '', metadata: {} },
      { ...cell, outputs, execution_count: 1 }
    ],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5
  });
  model.dirty = false;
  return model;
}

function says(text: string, msg_type = 'update_display_data') {
  const content = { data: { 'text/html': text }, metadata: {} };
  return { header: { msg_type }, content } as unknown as KernelMessage.IMessage;
}

function held(model: NotebookModel): unknown[] {
  const { outputs } = model.sharedModel.cells[1] as YCodeCell;
  return outputs.map(
    ({ data }) => (data as Record<string, unknown>)['text/html']
  );
}

function kept(model: NotebookModel): NotebookModel {
  opened.push(model);
  return model;
}

function docOf(model: NotebookModel): Doc {
  return (model.sharedModel as unknown as { ydoc: Doc }).ydoc;
}

/** Opened notebooks; closed after each test. */
const opened: NotebookModel[] = [];
afterEach(() => opened.splice(0).forEach(model => model.dispose()));

test('a transcript is brought up to date, and one that says the same leaves the notebook saved', () => {
  const model = open('<b>view</b>', html('a1', 'Water.'), html('b2', 'Other.'));
  restoreTranscript(model, says(html('a1', 'Water.')));
  restoreTranscript(model, says(html('c3', 'Elsewhere.')));
  restoreTranscript(model, says(`<p>${html('a1', 'Quoted.')}</p>`));
  restoreTranscript(model, says(html('a1', 'Shown.'), 'display_data'));
  expect(model.dirty).toBe(false);

  restoreTranscript(model, says(html('a1', 'Water. Fish.')));
  expect(held(model)).toEqual([
    '<b>view</b>',
    html('a1', 'Water. Fish.'),
    html('b2', 'Other.')
  ]);
  expect(model.dirty).toBe(true);
});

test('pages that share a notebook and change it at once keep one transcript', () => {
  const one = open(html('a1', ''));
  const other = kept(new NotebookModel({ collaborationEnabled: true }));
  const meet = (): void => {
    const [first, second] = [docOf(one), docOf(other)];
    applyUpdate(second, encodeStateAsUpdate(first));
    applyUpdate(first, encodeStateAsUpdate(second));
  };
  meet();
  for (const { cells } of [one, other]) {
    const said = says(html('a1', 'Water.'));
    restoreTranscript({ cells, collaborative: true }, said);
  }
  meet();
  for (const model of [one, other]) {
    const { outputs } = model.sharedModel.cells[1] as YCodeCell;
    expect(outputs.map(({ data }) => data)).toEqual([
      { 'text/html': html('a1', 'Water.') }
    ]);
  }
});
