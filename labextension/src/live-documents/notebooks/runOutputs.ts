/**
 * Shows the outputs of a cell the agent runs, as the server sends them, in the cell's output area.
 * Used by `AgentRuns`, one per running cell.
 */

import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { IOutput } from '@jupyterlab/nbformat';

/** The part of the lab's output area model that is used: it also writes to the shared model. */
export interface IOutputArea {
  readonly length: number;
  add(output: IOutput): number;
  clear(): void;
  fromJSON(outputs: IOutput[]): void;
}

/** Does the work now, and calls `then` when the page has shown it and had time for other things. */
export type Pace = (work: () => void, then: () => void) => void;

/** While a cell prints more than this, only both ends of its text are shown; in characters. */
const LIVE_LIMIT = 60_000;
const LIVE_END = 20_000;
const LEFT_OUT = '\n⋯\n';

/**
 * Follows one run. The area joins streams and applies carriage returns, so what was sent is kept.
 * The lab renders a stream anew when it grows: updates wait until the page has shown the last one,
 * so that a flood of text leaves time for the keyboard.
 */
export class RunOutputs {
  constructor(
    private readonly area: IOutputArea,
    private readonly pace: Pace = restful
  ) {
    area.clear();
  }

  /** Outputs from position `index` on are now these. */
  show(index: number, outputs: readonly IOutput[]): void {
    this.outputs = [...this.outputs.slice(0, index), ...outputs];
    this.isBehind = true;
    if (!this.isResting) {
      this.update();
    }
  }

  /** Show all there is, at once and whole. */
  showAll(): void {
    this.place(this.outputs);
  }

  /** The same in another area. */
  movedTo(area: IOutputArea): RunOutputs {
    const moved = new RunOutputs(area, this.pace);
    moved.show(0, this.outputs);
    return moved;
  }

  /** Show nothing more by itself. */
  stop(): void {
    this.isResting = true;
    this.isStopped = true;
  }

  private update(): void {
    this.isResting = true;
    this.isBehind = false;
    this.pace(
      () => this.place(shortened(this.outputs)),
      () => {
        this.isResting = this.isStopped;
        if (this.isBehind && !this.isStopped) {
          this.update();
        }
      }
    );
  }

  /** Bring the area from what it shows to `after`; only what is new is added, where that is enough. */
  private place(after: readonly IOutput[]): void {
    const before = this.placed;
    this.placed = after;
    let same = 0;
    while (same < before.length && equal(before[same], after[same])) {
      same += 1;
    }
    const growth =
      same === before.length - 1 ? growthOf(before[same], after[same]) : null;
    if (same === before.length && same > 0) {
      this.addAll(after.slice(same));
    } else if (growth !== null) {
      this.addAll([growth, ...after.slice(same + 1)]);
    } else {
      this.area.fromJSON([...after]);
    }
  }

  private addAll(outputs: readonly IOutput[]): void {
    for (const output of outputs) {
      this.area.add(output);
    }
  }

  private outputs: readonly IOutput[] = [];
  private placed: readonly IOutput[] = [];
  private isBehind = false;
  private isResting = false;
  private isStopped = false;
}

/** Parts of the time an update may take: three times as long as it took the page does other things. */
const REST = 3;
const PAINT_TIMEOUT = 500;

/** The pace of a page: an update counts until it is painted, which a hidden page does not do. */
function restful(work: () => void, then: () => void): void {
  const began = performance.now();
  work();
  let isPainted = false;
  const painted = (): void => {
    if (!isPainted) {
      isPainted = true;
      setTimeout(then, REST * (performance.now() - began));
    }
  };
  requestAnimationFrame(() => setTimeout(painted));
  setTimeout(painted, document.hidden ? 0 : PAINT_TIMEOUT);
}

/** The outputs as they are shown while more is coming. */
function shortened(outputs: readonly IOutput[]): readonly IOutput[] {
  const total = outputs.reduce((sum, output) => sum + textOf(output).length, 0);
  return total > LIVE_LIMIT ? outputs.map(shortenedOne) : outputs;
}

function shortenedOne(output: IOutput): IOutput {
  const text = textOf(output);
  if (text.length <= 2 * LIVE_END) {
    return output;
  }
  const head = text.slice(0, LIVE_END);
  const tail = text.slice(-LIVE_END);
  return { ...output, text: `${head}${LEFT_OUT}${tail}` };
}

function textOf(output: IOutput): string {
  const { output_type, text } = output;
  return output_type === 'stream' && typeof text === 'string' ? text : '';
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
