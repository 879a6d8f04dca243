/**
 * Identifies outputs by the beginning of their text and their position among equal ones. Used to anchor a thread to
 * an output, to mark it and to rate the certainty.
 */

import type { IOutput } from '@jupyterlab/nbformat';
import type { IOutputAreaModel } from '@jupyterlab/outputarea';

import { characterEnd } from './anchors';
import {
  locateOutput,
  outputPositionOf,
  type IFoundOutput
} from './outputAnchors';
import type { Anchor } from '../../wire/generated';

/** Characters of an output in its quote. */
const QUOTED = 2_000;

/** The data that identify an output in an anchor: its quote (empty for an image) and its position. */
export function outputMemory(
  outputs: IOutputAreaModel,
  index: number
): Required<Pick<Anchor, 'quote' | 'output'>> {
  const quotes = quotesOf(outputs);
  return {
    quote: quotes[index] ?? '',
    output: outputPositionOf(quotes, index)
  };
}

/** The output of a thread. */
export function outputAt(
  outputs: IOutputAreaModel,
  anchor: Pick<Anchor, 'quote' | 'output'>
): IFoundOutput {
  return locateOutput(quotesOf(outputs), anchor);
}

function quotesOf(outputs: IOutputAreaModel): string[] {
  return Array.from({ length: outputs.length }, (_, index) =>
    quoteOf(outputs.get(index).toJSON())
  );
}

/** The server rejects lone surrogates. */
function quoteOf(output: IOutput): string {
  const text = textOf(output).trim();
  return text.slice(0, characterEnd(text, QUOTED));
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

/** Text of a notebook: a string or a list of lines. */
function joined(text: unknown): string {
  return Array.isArray(text)
    ? text.filter(line => typeof line === 'string').join('')
    : typeof text === 'string'
      ? text
      : '';
}
