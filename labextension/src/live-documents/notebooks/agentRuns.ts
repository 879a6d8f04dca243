/**
 * The cells of one notebook that the agent is running, as the server announces them. Used by `NotebookBridge` through
 * `OpenNotebook`.
 */

import type { CellChange, ISharedCodeCell } from '@jupyter/ydoc';

import { toOutput, type JsonObject } from './cellConversion';
import { RunOutputs, type IOutputArea } from './runOutputs';

/** A code cell that shows a run. */
export interface IRunCell {
  shared: ISharedCodeCell;
  area: IOutputArea;
  /** Trust the outputs as if the user had run the cell. */
  trust: () => void;
}

interface IRun {
  id: string;
  /** Shows the outputs; null where a collaboration room shows them. */
  outputs: RunOutputs | null;
  /** The cell's output area. */
  area: IOutputArea;
  /** Whether the server has not mentioned the run since the socket was lost. */
  isDoubtful: boolean;
}

/** The agent's runs: at most one per cell. A run the user took over has ended for this page. */
export class AgentRuns {
  constructor(private readonly find: (cellId: string) => IRunCell | null) {}

  /** Show the cell as running: no outputs, `[*]`. Repeated after a reconnection. */
  started(runId: string, cellId: string): void {
    const cell = this.find(cellId);
    if (cell === null || this.handedOver.has(runId)) {
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

  /** A collaboration room shows the cell as running; show it here too. */
  joined(runId: string, cellId: string): void {
    const cell = this.find(cellId);
    if (this.handedOver.has(runId)) {
      return;
    }
    if (cell === null) {
      this.awaited.set(cellId, runId);
      return;
    }
    this.runs.get(cellId)?.outputs?.stop();
    const { area } = cell;
    const run = { id: runId, outputs: null, area, isDoubtful: false };
    this.runs.set(cellId, run);
    trustWhenEmpty(cell, () => this.of(runId, cellId) !== null);
  }

  /** The room has added cells: join runs that were announced before their cells arrived. */
  cellsAdded(): void {
    for (const [cellId, runId] of [...this.awaited]) {
      const cell = this.find(cellId);
      if (cell !== null) {
        this.awaited.delete(cellId);
        if (runId === null) {
          trustWhenEmpty(cell, () => false);
        } else {
          this.joined(runId, cellId);
        }
      }
    }
  }

  /** Replace the outputs from position `index` on. */
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

  /** The run has ended. */
  ended(runId: string, cellId: string, executionCount: number | null): void {
    const run = this.of(runId, cellId);
    const cell = this.find(cellId);
    this.handedOver.delete(runId);
    if (this.awaited.get(cellId) === runId) {
      this.awaited.set(cellId, null);
    }
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

  /** The user runs the cell: end the agent's run and return its id. */
  handOver(cellId: string): string | null {
    const run = this.runs.get(cellId);
    if (run === undefined) {
      return null;
    }
    run.outputs?.stop();
    this.runs.delete(cellId);
    this.handedOver.add(run.id);
    return run.id;
  }

  /** The socket was lost: the server announces the runs it still knows after it reconnects. */
  markDoubtful(): void {
    this.runs.forEach(run => {
      run.isDoubtful = true;
    });
  }

  /** End the runs that the server has not mentioned since `doubt`. */
  endDoubtful(): void {
    for (const [cellId, run] of [...this.runs]) {
      if (run.isDoubtful) {
        this.ended(run.id, cellId, null);
      }
    }
  }

  /** Follow a cell that is moved or restored by undo: it is a new cell with the same id. */
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
  private readonly handedOver = new Set<string>();

  /** Cells of joined runs that the room has not sent yet, with the run; null where it has ended. */
  private readonly awaited = new Map<string, string | null>();
}

/**
 * Trust the cell once the room has removed its old outputs. JupyterLab rewrites existing outputs when a cell becomes
 * trusted, which would bring them back in a room; outputs that others printed before are not trusted either. The room
 * has another socket than the announcements: its first change of the outputs may arrive after the end of the run.
 */
function trustWhenEmpty(cell: IRunCell, isRunning: () => boolean): void {
  const { shared, area, trust } = cell;
  const look = (_: unknown, change?: CellChange): void => {
    if (area.length === 0) {
      shared.changed.disconnect(look);
      trust();
    } else if (change?.outputsChange !== undefined && !isRunning()) {
      shared.changed.disconnect(look);
    }
  };
  shared.changed.connect(look);
  look(shared);
}
