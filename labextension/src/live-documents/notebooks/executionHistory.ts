/**
 * Which text of a cell the user ran last in this page: the server tells from it what is stale. Used
 * by `OpenNotebook`; a restart of the kernel begins anew.
 */

import type { ISharedCodeCell, YCellType } from '@jupyter/ydoc';

import { cellVersion } from '../../wire/versions';

interface IRun {
  version: string;
  /** The execution count; null while it runs. */
  count: number | null;
}

/** The count a code cell shows. */
export function executionCountOf(cell: YCellType): number | null {
  return cell.cell_type === 'code'
    ? (cell as ISharedCodeCell).execution_count
    : null;
}

/** The runs of one notebook's cells. */
export class ExecutionHistory {
  /** How often the kernel was restarted, or replaced by another. */
  restarts = 0;

  /** A cell is sent to the kernel as it is now. */
  scheduled(id: string, source: string): void {
    this.runs.set(id, { version: cellVersion(source), count: null });
  }

  /** Its run is over. */
  ended(id: string, count: number | null): void {
    const run = this.runs.get(id);
    if (run !== undefined) {
      run.count = count;
    }
  }

  /** The names of all runs are gone. */
  restarted(): void {
    this.restarts += 1;
    this.runs.clear();
  }

  /** The text the count beside a cell is of; null when this page does not know. */
  versionOf(cell: YCellType): string | null {
    const run = this.runs.get(cell.id);
    const isShown = run !== undefined && run.count !== null;
    return isShown && run.count === executionCountOf(cell) ? run.version : null;
  }

  private readonly runs = new Map<string, IRun>();
}
