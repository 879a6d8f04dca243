/**
 * Updates the transcript of a panel in an output where JupyterLab does not: it knows an output's display id only in
 * the page that ran the cell, until a reload. The kernel's side is `kernel/panel/saved_transcript.py`. Used by the
 * transcripts plugin.
 */

import type { ISharedCodeCell, YCodeCell } from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { IDisplayData, IMimeBundle } from '@jupyterlab/nbformat';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { KernelMessage } from '@jupyterlab/services';
import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';

/** The start of a transcript; text of the conversation is escaped and comes later. */
const NAMED =
  /^<div class="shoulders-transcript (shoulders-transcript-[0-9a-f]+)"/;

/** Apply a kernel message that updates a transcript of this notebook; ignore all others. */
export function restoreTranscript(
  model: Pick<INotebookModel, 'cells' | 'collaborative'>,
  message: KernelMessage.IMessage
): void {
  if (message.header.msg_type !== 'update_display_data') {
    return;
  }
  const { data } =
    message.content as KernelMessage.IUpdateDisplayDataMsg['content'];
  const name = nameIn(data);
  if (name === null) {
    return;
  }
  for (const cell of model.cells) {
    if (cell.type === 'code') {
      update(cell as ICodeCellModel, name, data, model.collaborative === true);
    }
  }
}

/** Update the outputs of this name that differ. */
function update(
  cell: ICodeCellModel,
  name: string,
  data: IMimeBundle,
  isShared: boolean
): void {
  // JupyterLab's code cells have this member. In a shared notebook only this part is saved.
  const { youtputs } = cell.sharedModel as ISharedCodeCell &
    Pick<YCodeCell, 'youtputs'>;
  for (let index = 0; index < youtputs.length; index += 1) {
    const held = youtputs.get(index) as SharedOutput;
    const before = held.get('data');
    if (nameIn(before) !== name || equal(before, data)) {
      continue;
    }
    if (isShared) {
      // Every page that shares the notebook does this at once. JupyterLab's way, removing and inserting the output,
      // would leave one per page; setting the same value several times gives one value.
      cell.sharedModel.transact(() => held.set('data', data), false);
    } else {
      const output: IDisplayData = {
        output_type: 'display_data',
        data,
        metadata: {}
      };
      cell.outputs.set(index, output);
    }
  }
}

/** An output in the shared model. */
interface SharedOutput {
  get(key: 'data'): unknown;
  set(key: 'data', data: IMimeBundle): void;
}

/** The class that names a transcript in display data; null for other data. */
function nameIn(data: unknown): string | null {
  const html = (data as IMimeBundle | undefined)?.['text/html'];
  return typeof html === 'string' ? (NAMED.exec(html)?.[1] ?? null) : null;
}

function equal(before: unknown, after: IMimeBundle): boolean {
  return JSONExt.deepEqual(before as ReadonlyPartialJSONValue, after);
}
