/**
 * The cells of one notebook that the agent is running, as the server tells it. Used by
 * `NotebookBridge` through `OpenNotebook`.
 */

import type { ISharedCodeCell } from '@jupyter/ydoc';

import { toOutput, type JsonObject } from './cellConversion';
import { RunOutputs, type IOutputArea } from './runOutputs';

/** A code cell as a run shows itself in it. */
export interface IRunCell {
  shared: ISharedCodeCell;
  area: IOutputArea;
  /** Show what it prints as if the user had run it. */
  trust: () => void;
}

interface IRun {
  id: string;
  /** What is shown here; null where a collaboration room shows it. */
  outputs: RunOutputs | null;
  /** Where it is shown. */
  area: IOutputArea;
  /** Whether the server has not spoken of it since the socket was lost. */
  isDoubtful: boolean;
}

/** At most one run per cell; a run the user took over is over for this page. */
export class AgentRuns {
  constructor(private readonly find: (cellId: string) => IRunCell | null) {}

  /** Show the cell as running: no outputs, `[*]`. Said again after a reconnection. */
  started(runId: string, cellId: string): void {
    const cell = this.find(cellId);
    if (cell === null || this.taken.has(runId)) {
      return;
    }
    this.runs.get(cellId)?.outputs?.stop();
    cell.trust();
    const outputs = new RunOutputs(cell.area);
    const { area } = cell;
    this.runs.set(cellId, { id: runId, outputs, area, isDoubtful: false });
    cell.shared.execution_count = null;
    cell.shared.executionState = 'running';
  }

  /** A collaboration room shows the cell as running, here as well. */
  joined(runId: string, cellId: string): void {
    const cell = this.find(cellId);
    if (cell === null || this.taken.has(runId)) {
      return;
    }
    this.runs.get(cellId)?.outputs?.stop();
    const { area } = cell;
    const run = { id: runId, outputs: null, area, isDoubtful: false };
    this.runs.set(cellId, run);
    trustWhenEmpty(cell, () => this.of(runId, cellId) !== null);
  }

  /** Outputs from position `index` on are now these. */
  output(
    runId: string,
    cellId: string,
    index: number,
    outputs: readonly JsonObject[]
  ): void {
    const run = this.of(runId, cellId);
    if (run !== null) {
      this.follow(run, cellId);
      run.outputs?.show(index, outputs.map(toOutput));
    }
  }

  /** The run is over. */
  ended(runId: string, cellId: string, executionCount: number | null): void {
    const run = this.of(runId, cellId);
    const cell = this.find(cellId);
    this.taken.delete(runId);
    if (run === null) {
      return;
    }
    this.follow(run, cellId);
    this.runs.delete(cellId);
    run.outputs?.stop();
    if (cell !== null && run.outputs !== null) {
      run.outputs.showAll();
      cell.shared.execution_count = executionCount;
      cell.shared.executionState = 'idle';
    }
  }

  /** The user runs the cell: it is theirs from now on. Returns the run that ends here. */
  take(cellId: string): string | null {
    const run = this.runs.get(cellId);
    if (run === undefined) {
      return null;
    }
    run.outputs?.stop();
    this.runs.delete(cellId);
    this.taken.add(run.id);
    return run.id;
  }

  /** The socket was lost: the server will speak again of the runs it still knows. */
  doubt(): void {
    this.runs.forEach(run => {
      run.isDoubtful = true;
    });
  }

  /** End the runs that the server has not spoken of since `doubt`. */
  endDoubtful(): void {
    for (const [cellId, run] of [...this.runs]) {
      if (run.isDoubtful) {
        this.ended(run.id, cellId, null);
      }
    }
  }

  /** A cell that is moved, or comes back by undo, is a new one of the same id. */
  private follow(run: IRun, cellId: string): void {
    const cell = this.find(cellId);
    if (cell === null || run.outputs === null || run.area === cell.area) {
      return;
    }
    run.outputs.stop();
    run.area = cell.area;
    run.outputs = run.outputs.movedTo(cell.area);
    cell.trust();
    cell.shared.executionState = 'running';
  }

  private of(runId: string, cellId: string): IRun | null {
    const run = this.runs.get(cellId);
    return run?.id === runId ? run : null;
  }

  private readonly runs = new Map<string, IRun>();
  private readonly taken = new Set<string>();
}

/**
 * Trust the cell once the room has taken its old outputs away: the lab writes those that are there
 * anew, and in a room they would come back. What others printed before is not trusted with it.
 */
function trustWhenEmpty(cell: IRunCell, isRunning: () => boolean): void {
  const { shared, area, trust } = cell;
  const look = (): void => {
    if (!isRunning()) {
      shared.changed.disconnect(look);
    } else if (area.length === 0) {
      shared.changed.disconnect(look);
      trust();
    }
  };
  shared.changed.connect(look);
  look();
}
