/**
 * Shows the outputs of a cell the agent runs, as the server sends them, in the cell's output area.
 * Used by `OpenNotebook`, one per running cell.
 */

import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { IOutput } from '@jupyterlab/nbformat';

/** The part of the lab's output area model that is used: it also writes to the shared model. */
export interface IOutputArea {
  add(output: IOutput): number;
  clear(): void;
  fromJSON(outputs: IOutput[]): void;
}

/** Follows one run. The area joins streams and applies carriage returns, so what was sent is kept. */
export class RunOutputs {
  constructor(private readonly area: IOutputArea) {
    area.clear();
  }

  /** Outputs from position `index` on are now these; only what is new is added, where that is enough. */
  show(index: number, outputs: readonly IOutput[]): void {
    const before = this.sent;
    const after = [...before.slice(0, index), ...outputs];
    this.sent = after;
    let same = Math.min(index, before.length);
    while (same < before.length && equal(before[same], after[same])) {
      same += 1;
    }
    const growth =
      same === before.length - 1 ? growthOf(before[same], after[same]) : null;
    if (same === before.length) {
      this.addAll(after.slice(same));
    } else if (growth !== null) {
      this.addAll([growth, ...after.slice(same + 1)]);
    } else {
      this.area.fromJSON(after);
    }
  }

  private addAll(outputs: readonly IOutput[]): void {
    for (const output of outputs) {
      this.area.add(output);
    }
  }

  private sent: IOutput[] = [];
}

/** What was appended to a stream, as a stream; null when that is not all that happened. */
function growthOf(
  before: IOutput | undefined,
  after: IOutput | undefined
): IOutput | null {
  if (before?.output_type !== 'stream' || after?.output_type !== 'stream') {
    return null;
  }
  const { text: start } = before;
  const { text: whole } = after;
  return before.name === after.name &&
    typeof start === 'string' &&
    typeof whole === 'string' &&
    whole.startsWith(start)
    ? { ...after, text: whole.slice(start.length) }
    : null;
}

function equal(one: IOutput | undefined, other: IOutput | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    JSONExt.deepEqual(json(one), json(other))
  );
}

function json(output: IOutput): ReadonlyPartialJSONValue {
  // An nbformat output is JSON; its interface type only lacks the index signature.
  return output;
}
