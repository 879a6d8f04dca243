/**
 * The text of each cell that the user last ran in this page; the server derives stale cells from it. Used by
 * `OpenNotebook`; reset when the kernel restarts.
 */

import type { ISharedCodeCell, YCellType } from '@jupyter/ydoc';

import { cellVersion } from '../../wire/versions';

interface IRun {
  version: string;
  /** The execution count; null while the cell runs. */
  count: number | null;
}

/** The execution count of a code cell. */
export function executionCountOf(cell: YCellType): number | null {
  return cell.cell_type === 'code'
    ? (cell as ISharedCodeCell).execution_count
    : null;
}

/** The runs of one notebook's cells. */
export class ExecutionHistory {
  /** How often the kernel was restarted or replaced. */
  restarts = 0;

  /** A cell is sent to the kernel. */
  scheduled(id: string, source: string): void {
    this.runs.set(id, { version: cellVersion(source), count: null });
  }

  /** The run has ended. */
  ended(id: string, count: number | null): void {
    const run = this.runs.get(id);
    if (run !== undefined) {
      run.count = count;
    }
  }

  /** The kernel lost the state of all runs. */
  restarted(): void {
    this.restarts += 1;
    this.runs.clear();
  }

  /** The text that a cell's execution count belongs to; null when this page does not know it. */
  versionOf(id: string, count: number | null): string | null {
    const run = this.runs.get(id);
    const isShown = run !== undefined && run.count !== null;
    return isShown && run.count === count ? run.version : null;
  }

  private readonly runs = new Map<string, IRun>();
}
