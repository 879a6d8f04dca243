/** The threads of one open document. Used by `ThreadLocations`. */

import type { YFile, YNotebook } from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { IOutputAreaModel } from '@jupyterlab/outputarea';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { Doc } from 'yjs';

import type { Anchor, Session } from '../wire/generated';
import { toLab, toServer } from './anchors/byteOrderMark';
import type { IThreadLocation } from '../host/threadLocations';
import type { IFoundOutput } from './anchors/outputAnchors';
import { outputAt } from './anchors/cellOutputs';
import type { IThreadPosition } from './tracking/trackedThread';
import { ThreadTracker } from './tracking/tracker';

export type Context = DocumentRegistry.IContext<DocumentRegistry.IModel>;

/** Tracks the threads of one document. */
export class ThreadDocument implements IDisposable {
  constructor(
    readonly context: Context,
    readonly isNotebook: boolean
  ) {
    this.tracker = new ThreadTracker(docOf(context), isNotebook);
    this.tracker.moved.connect((_, { ids, isReordered }) => {
      ids.forEach(id => this.locations.delete(id));
      if (isReordered) {
        this.locations.clear();
      }
    });
  }

  readonly tracker: ThreadTracker;

  /** Emitted when threads were added or removed. */
  readonly changed = new Signal<this, void>(this);

  /** Emitted when the outputs of threads changed. */
  readonly reread = new Signal<this, void>(this);

  /** Workspace-relative path, without a drive. */
  get path(): string {
    return this.context.localPath;
  }

  get isDisposed(): boolean {
    return this.tracker.isDisposed;
  }

  dispose(): void {
    this.tracker.dispose();
    Signal.clearData(this);
  }

  /** Whether the threads of its path are being loaded; current ones may still have an old path. */
  isLoading = false;

  /** Track exactly the threads of a list; returns whether the set changed. */
  setThreads(all: readonly Session[]): boolean {
    const sessions = all.filter(
      ({ id, anchor }) =>
        anchor?.document === this.path ||
        (this.isLoading && this.serverAnchors.has(id))
    );
    const ids = new Set(sessions.map(({ id }) => id));
    let isChanged = false;
    for (const id of this.tracker.ids.filter(known => !ids.has(known))) {
      this.tracker.untrack(id);
      this.locations.delete(id);
      this.serverAnchors.delete(id);
      isChanged = true;
    }
    for (const { id, anchor } of sessions) {
      if (anchor !== null && this.serverAnchors.get(id) !== anchor) {
        isChanged = this.updateServerAnchor(id, anchor) || isChanged;
      }
    }
    if (isChanged && this.isRead && !this.isLoading) {
      this.changed.emit();
    }
    this.isRead ||= !this.isLoading;
    return isChanged;
  }

  /** The anchor of a thread as the server has it. */
  serverAnchor(id: string): Anchor | null {
    return this.serverAnchors.get(id) ?? null;
  }

  /** The current anchor of a thread for the server; null for a thread of another document. */
  anchorToReport(id: string): Anchor | null {
    const anchor = this.tracker.anchor(id, this.path, true);
    return anchor && toServer(anchor, this.text);
  }

  /** The location of a thread; null for a thread of another document. */
  of(id: string): IThreadLocation | null {
    const known = this.locations.get(id);
    if (known !== undefined) {
      return known;
    }
    const anchor = this.tracker.anchor(id, this.path, false);
    if (anchor === null) {
      return null;
    }
    const place = this.locationOf(
      id,
      anchor,
      this.tracker.positionOf(id) ?? null
    );
    this.locations.set(id, place);
    return place;
  }

  /** All locations in text order; orphaned ones last. */
  get all(): readonly IThreadLocation[] {
    return this.tracker.ids
      .flatMap(id => this.of(id) ?? [])
      .sort(
        (a, b) => compared(orderOf(a), orderOf(b)) || startOf(a) - startOf(b)
      );
  }

  private locationOf(
    sessionId: string,
    anchor: Anchor,
    spot: IThreadPosition | null
  ): IThreadLocation {
    const number = spot === null ? null : this.tracker.numberOf(spot.unit);
    const start = spot?.range?.from;
    const line =
      spot === null || start === undefined
        ? null
        : lineAt(spot.unit.source, start);
    const outputs =
      anchor.target === 'output' ? this.outputsAt(anchor, number) : null;
    return outputs === null || anchor.certainty !== 'exact'
      ? { sessionId, anchor, number, line }
      : {
          ...{ sessionId, number, line },
          anchor: {
            ...anchor,
            certainty: this.trackedOutput(outputs, anchor).certainty
          }
        };
  }

  /** The outputs of a cell, by its number. */
  private outputsAt(
    { cell_id }: Anchor,
    number: number | null
  ): IOutputAreaModel | null {
    // The document is a notebook.
    const { cells } = this.context.model as INotebookModel;
    const cell = number === null ? undefined : cells.get(number - 1);
    return cell?.type === 'code' && cell.id === cell_id
      ? (cell as ICodeCellModel).outputs
      : null;
  }

  /** The output of a thread; computed again when outputs change. */
  private trackedOutput(
    outputs: IOutputAreaModel,
    anchor: Anchor
  ): IFoundOutput {
    if (!this.outputs.has(outputs)) {
      this.outputs.add(outputs);
      outputs.changed.connect(this.onOutputs);
    }
    return outputAt(outputs, anchor);
  }

  private readonly onOutputs = (
    _: IOutputAreaModel,
    { type, newValues }: IOutputAreaModel.ChangedArgs
  ): void => {
    // Further text extends an output in place.
    const isMore =
      type === 'set' && newValues.every(output => output.type === 'stream');
    if (!isMore) {
      for (const [id, { anchor }] of this.locations) {
        if (anchor.target === 'output') {
          this.locations.delete(id);
        }
      }
      this.reread.emit();
    }
  };

  /**
   * Take an anchor from the server. The page's own tracking takes precedence unless another page found what is lost
   * or uncertain here.
   */
  private updateServerAnchor(id: string, logged: Anchor): boolean {
    const isNew = !this.serverAnchors.has(id);
    this.serverAnchors.set(id, logged);
    const anchor = toLab(logged, this.text);
    const isFound = this.tracker.positionOf(id)?.certainty === 'exact';
    if (!isNew && (isFound || !this.tracker.isHere(anchor))) {
      return false;
    }
    this.tracker.track(id, anchor);
    this.locations.delete(id);
    if (isNew && this.hasMoved(id, anchor)) {
      this.found.push(id);
    }
    return true;
  }

  /** The threads found elsewhere than the server said, since the last call. */
  takeMoved(): readonly string[] {
    return this.found.splice(0);
  }

  /** Whether a thread moved. What other pages track in a room is reported by them. */
  private hasMoved(id: string, { range, cell_id, certainty }: Anchor): boolean {
    const spot = this.tracker.positionOf(id);
    return (
      !this.context.model.collaborative &&
      (spot?.unit.id !== cell_id ||
        spot.range?.from !== range?.from ||
        spot.range?.to !== range?.to ||
        spot.certainty !== certainty)
    );
  }

  /** The text of a file. Notebooks have one per cell. */
  private get text(): string {
    // The interface of shared models lacks the text; all files have it.
    const { sharedModel } = this.context.model;
    return this.isNotebook ? '' : (sharedModel as unknown as YFile).getSource();
  }

  /** The server's last anchor of each thread. */
  private readonly serverAnchors = new Map<string, Anchor>();
  private isRead = false;
  private readonly found: string[] = [];
  private readonly locations = new Map<string, IThreadLocation>();
  /** Outputs with a listener. */
  private readonly outputs = new WeakSet<IOutputAreaModel>();
}

function docOf({ model }: Context): Doc {
  // The interface of shared models lacks the document; all of JupyterLab's have it.
  return (model.sharedModel as YFile | YNotebook).ydoc;
}

function orderOf({ anchor, number }: IThreadLocation): number {
  return anchor.certainty === 'orphaned' ? Infinity : (number ?? 0);
}

function startOf({ anchor }: IThreadLocation): number {
  return anchor.range?.from ?? -1;
}

/** Infinity minus Infinity is not a number. */
function compared(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

/** The line of an offset, from 1. */
export function lineAt(source: string, offset: number): number {
  let line = 1;
  let at = source.indexOf('\n');
  while (at >= 0 && at < offset) {
    line += 1;
    at = source.indexOf('\n', at + 1);
  }
  return line;
}
