/**
 * Shows the outputs of a cell run by the agent in the cell's output area. Used by `AgentRuns`, one per running cell.
 */

import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { IOutput } from '@jupyterlab/nbformat';

/** The members of JupyterLab's output area model in use; it also writes to the shared model. */
export interface IOutputArea {
  readonly length: number;
  add(output: IOutput): number;
  clear(): void;
  fromJSON(outputs: IOutput[]): void;
}

/** Does the work, then calls `then` when the page has painted it and had time for other work. */
export type Pace = (work: () => void, then: () => void) => void;

/** Above this length, in characters, only both ends of a cell's text are shown while it runs. */
const LIVE_LIMIT = 60_000;
const LIVE_END = 20_000;
const LEFT_OUT = '\n⋯\n';

/**
 * Follows one run. Keeps the outputs as sent: the area joins streams and applies carriage returns. JupyterLab renders
 * a stream again whenever it grows, so updates wait until the last one is painted; a flood of text then leaves time
 * for the keyboard.
 */
export class RunOutputs {
  constructor(
    private readonly area: IOutputArea,
    private readonly pace: Pace = paintedPace
  ) {
    area.clear();
  }

  /** Replace the outputs from position `index` on. */
  show(index: number, outputs: readonly IOutput[]): void {
    this.outputs = [...this.outputs.slice(0, index), ...outputs];
    this.isBehind = true;
    if (!this.isResting) {
      this.update();
    }
  }

  /** Show all outputs in full, now. */
  showAll(): void {
    this.updateArea(this.outputs);
  }

  /** The same run in another area. */
  movedTo(area: IOutputArea): RunOutputs {
    const moved = new RunOutputs(area, this.pace);
    moved.show(0, this.outputs);
    return moved;
  }

  /** Stop showing further outputs. */
  stop(): void {
    this.isResting = true;
    this.isStopped = true;
  }

  private update(): void {
    this.isResting = true;
    this.isBehind = false;
    this.pace(
      () => this.updateArea(shortened(this.outputs)),
      () => {
        this.isResting = this.isStopped;
        if (this.isBehind && !this.isStopped) {
          this.update();
        }
      }
    );
  }

  /** Update the area to show `after`; appends only the new part where that suffices. */
  private updateArea(after: readonly IOutput[]): void {
    const before = this.areaOutputs;
    this.areaOutputs = after;
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
  private areaOutputs: readonly IOutput[] = [];
  private isBehind = false;
  private isResting = false;
  private isStopped = false;
}

/** Idle time after an update, as a multiple of the time it took. */
const IDLE_FACTOR = 3;
const PAINT_TIMEOUT = 500;

/** The default pace: an update lasts until it is painted, which a hidden page never does. */
function paintedPace(work: () => void, then: () => void): void {
  const began = performance.now();
  work();
  let isPainted = false;
  const painted = (): void => {
    if (!isPainted) {
      isPainted = true;
      setTimeout(then, IDLE_FACTOR * (performance.now() - began));
    }
  };
  requestAnimationFrame(() => setTimeout(painted));
  setTimeout(painted, document.hidden ? 0 : PAINT_TIMEOUT);
}

/** The outputs as shown while the cell still runs. */
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

/** The text appended to a stream, as a stream; null when more than that changed. */
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
  // An nbformat output is JSON; its interface type lacks only the index signature.
  return output;
}
