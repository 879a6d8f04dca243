/** Outputs as threads know them: by the text they begin with. Used to pin a thread to one, and to mark it. */

import type { CodeCell } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import type { IOutputAreaModel } from '@jupyterlab/outputarea';

import { whole } from '../model/anchors';

/** Characters of an output that are quoted. */
const QUOTED = 2_000;

/** The text an output is known by; empty of a picture. */
export function outputQuote(outputs: IOutputAreaModel, index: number): string {
  return quoteOf(outputs.get(index).toJSON());
}

/**
 * The place among its outputs of the one that is meant: the one that reads as it did, else the one that stood there
 * when the cell had one like it only. Null: the cell has no outputs.
 */
export function outputAt(cell: CodeCell, quote: string): number | null {
  const { model } = cell.outputArea;
  if (model.length === 0) {
    return null;
  }
  for (let index = 0; index < model.length; index++) {
    if (outputQuote(model, index) === quote) {
      return index;
    }
  }
  return 0;
}

/** The server takes no half characters. */
function quoteOf(output: IOutput): string {
  const text = textOf(output).trim();
  return text.slice(0, whole(text, QUOTED));
}

function textOf(output: IOutput): string {
  switch (output.output_type) {
    case 'stream':
      return joined(output.text);
    case 'error':
      return `${joined(output.ename)}: ${joined(output.evalue)}`;
    default:
      return plainOf(output.data);
  }
}

function plainOf(data: unknown): string {
  const plain =
    typeof data === 'object' && data !== null && 'text/plain' in data
      ? data['text/plain']
      : '';
  return joined(plain);
}

/** Text of a notebook: one string, or its lines. */
function joined(text: unknown): string {
  return Array.isArray(text)
    ? text.filter(line => typeof line === 'string').join('')
    : typeof text === 'string'
      ? text
      : '';
}
