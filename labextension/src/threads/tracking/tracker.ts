/**
 * Tracks the threads of one open document through every change of its shared text: typing, undo, split, merged and
 * moved cells, replaced texts. Used by `ThreadDocument`; needs no editor.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { Doc } from 'yjs';

import { remember, characterEnd } from '../anchors/anchors';
import type { Anchor, TextRange } from '../../wire/generated';
import { cellVersion, textVersion } from '../../wire/versions';
import { findReopened } from './reopenedAnchors';
import {
  createRelativeRange,
  updateRelativeRange,
  resolveRelativeRange
} from './relativePositions';
import { AnchorResolver } from './anchorResolution';
import {
  SharedTexts,
  type IChange,
  type IUnit,
  type Units
} from './sharedTexts';
import {
  isOfCell,
  threadOf,
  withRelativeRange,
  type IThreadPosition,
  type ITrackedThread
} from './trackedThread';

/** UTF-16 units kept of a quote; the server's limit. */
const MAX_QUOTE = 20_000;
/** UTF-16 units kept of a whole cell, to identify it after its removal. */
const MAX_CELL_QUOTE = 2_000;

/** The threads that a change moved. */
export interface IMoved {
  readonly ids: readonly string[];
  /** Whether this page made the change. */
  readonly isLocal: boolean;
  /** Whether cells moved: every thread may have another cell number. */
  readonly isReordered: boolean;
}

/** The positions of the threads of one document. */
export class ThreadTracker implements IDisposable {
  constructor(doc: Doc, isNotebook: boolean) {
    this.texts = new SharedTexts(doc, isNotebook, change =>
      this.onChange(change)
    );
    this.duplicateIds = duplicateIdsIn(this.texts.units);
  }

  /** Emitted right after each change that moved threads. */
  readonly moved = new Signal<this, IMoved>(this);

  get isDisposed(): boolean {
    return this.texts.isDisposed;
  }

  get ids(): readonly string[] {
    return [...this.threads.keys()];
  }

  /** Track a thread from its anchor on. */
  track(id: string, anchor: Anchor): void {
    const thread = threadOf(id, anchor);
    this.threads.set(id, thread);
    this.resolveAll(thread, findReopened(this.texts.units, anchor));
  }

  untrack(id: string): void {
    this.threads.delete(id);
  }

  /** The position of a thread; null when it is lost, undefined when it is not tracked. */
  positionOf(id: string): IThreadPosition | null | undefined {
    return this.threads.get(id)?.position;
  }

  /** The number of a cell from 1; null for a file. */
  numberOf({ id, text }: IUnit): number | null {
    return id === null
      ? null
      : this.texts.units.findIndex(unit => unit.text === text) + 1;
  }

  /** The current anchor of a thread; the last one if it is lost. */
  anchor(id: string, document: string, hasVersion: boolean): Anchor | null {
    const thread = this.threads.get(id);
    if (thread === undefined) {
      return null;
    }
    const { target, output, memory, position } = thread;
    const { quote, prefix, suffix } = memory;
    const range = position === null ? memory.range : position.range;
    return {
      document,
      cell_id: position === null ? memory.cell_id : position.unit.id,
      target,
      range:
        range && position !== null
          ? { from: range.from, to: shortened(position.unit.source, range) }
          : range,
      quote,
      prefix,
      suffix,
      version:
        position === null
          ? memory.version
          : hasVersion
            ? versionOf(position.unit)
            : null,
      certainty: this.certaintyOf(position),
      output
    };
  }

  /** Whether an anchor is certain and belongs to the current version of a text. */
  isHere({ cell_id, certainty, version }: Anchor): boolean {
    const unit = this.texts.units.find(({ id }) => id === cell_id);
    return (
      certainty === 'exact' && unit !== undefined && versionOf(unit) === version
    );
  }

  /** Certainty for readers who know cells by id: undo can duplicate a cell. */
  private certaintyOf(spot: IThreadPosition | null): Anchor['certainty'] {
    if (spot === null) {
      return 'orphaned';
    }
    const { id } = spot.unit;
    return id !== null && this.duplicateIds.has(id)
      ? 'approximate'
      : spot.certainty;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.texts.dispose();
      this.threads.clear();
      Signal.clearData(this);
    }
  }

  private onChange(change: IChange): void {
    const before = this.duplicateIds;
    if (change.isStructural) {
      this.duplicateIds = duplicateIdsIn(change.after);
    }
    if (this.threads.size === 0) {
      return;
    }
    const settling = new AnchorResolver(change);
    const ids = [...this.threads.values()]
      .filter(thread => {
        const isMoved = this.isMoved(settling, thread);
        const id = thread.position?.unit.id ?? '';
        return isMoved || before.has(id) !== this.duplicateIds.has(id);
      })
      .map(({ id }) => id);
    const { isLocal } = change;
    const isElsewhere = isReordered(change);
    if (ids.length > 0 || isElsewhere) {
      this.moved.emit({ ids, isLocal, isReordered: isElsewhere });
    }
  }

  /** Find a thread after a change; returns whether it moved. */
  private isMoved(settling: AnchorResolver, thread: ITrackedThread): boolean {
    if (!settling.concerns(thread)) {
      return false;
    }
    const { position } = thread;
    this.resolveAll(thread, this.resolveSafely(settling, thread));
    return !isSamePosition(position, thread.position);
  }

  /** An error here must not reach the user's typing: the thread counts as lost. */
  private resolveSafely(
    settling: AnchorResolver,
    thread: ITrackedThread
  ): IThreadPosition | null {
    try {
      return settling.resolve(thread);
    } catch (error) {
      console.error(`The thread ${thread.id} was not followed:`, error);
      return null;
    }
  }

  private resolveAll(
    thread: ITrackedThread,
    spot: IThreadPosition | null
  ): void {
    if (spot === null) {
      thread.last = thread.position ?? thread.last;
      thread.position = null;
      return;
    }
    thread.position = spot;
    if (isOfCell(thread)) {
      rememberCell(thread, spot);
    } else {
      rememberText(thread, spot, this.texts.map);
    }
  }

  private readonly texts: SharedTexts;
  private readonly threads = new Map<string, ITrackedThread>();
  /** Ids that several cells have. */
  private duplicateIds: ReadonlySet<string>;
}

function duplicateIdsIn(units: readonly IUnit[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twins = new Set<string>();
  for (const { id } of units) {
    if (id !== null && seen.has(id)) {
      twins.add(id);
    }
    seen.add(id ?? '');
  }
  return twins;
}

/** Whether cells moved. */
function isReordered({ isStructural, before, after }: IChange): boolean {
  return (
    isStructural &&
    (before.length !== after.length ||
      before.some(({ text }, index) => after[index]?.text !== text))
  );
}

/** Remember the cell of a thread. */
function rememberCell(
  thread: ITrackedThread,
  { unit, certainty }: IThreadPosition
): void {
  const { id, source } = unit;
  if (id !== null && thread.cells.at(-1) !== id) {
    thread.cells = [...thread.cells.filter(cell => cell !== id), id];
  }
  if (certainty === 'exact') {
    const { target, memory } = thread;
    const quote =
      target === 'cell'
        ? source.slice(0, characterEnd(source, MAX_CELL_QUOTE))
        : memory.quote;
    thread.memory = { ...memory, cell_id: id, quote };
  }
}

/** Pin the text of a thread, and remember it if certain. */
function rememberText(
  thread: ITrackedThread,
  spot: IThreadPosition,
  map: Units
): void {
  const { unit, range, certainty } = spot;
  if (range === null) {
    return;
  }
  const isCertain = certainty === 'exact';
  const known = [...thread.pins].reverse().find(pin => {
    const place =
      pin.isCertain === isCertain ? resolveRelativeRange(pin, map) : null;
    return place?.unit === unit && isSame(place.range, range);
  });
  if (known === undefined) {
    thread.pins = withRelativeRange(
      thread.pins,
      createRelativeRange(unit, range, isCertain)
    );
  } else if (isCertain) {
    updateRelativeRange(known, unit, range);
  }
  const cut = { from: range.from, to: shortened(unit.source, range) };
  if (isCertain) {
    const { earlier, memory } = thread;
    const quote = unit.source.slice(cut.from, cut.to);
    const before = earlier.includes(memory.quote) ? earlier : memory.quote;
    const isLess = before.length > quote.length && before.includes(quote);
    thread.earlier = isLess ? before : '';
  }
  thread.memory = {
    ...thread.memory,
    ...(isCertain ? remember(unit.source, cut) : {}),
    ...{ cell_id: unit.id, range: cut, version: null, certainty: 'exact' }
  };
}

function isSamePosition(
  one: IThreadPosition | null,
  other: IThreadPosition | null
): boolean {
  return one === null || other === null
    ? one === other
    : one.unit === other.unit &&
        one.certainty === other.certainty &&
        isSame(one.range, other.range);
}

function isSame(one: TextRange | null, other: TextRange | null): boolean {
  return one?.from === other?.from && one?.to === other?.to;
}

/** The end of the quote of a range; the server rejects lone surrogates. */
function shortened(source: string, { from, to }: TextRange): number {
  return characterEnd(source, Math.min(to, from + MAX_QUOTE));
}

function versionOf({ id, source }: IUnit): string {
  return id === null ? textVersion(source) : cellVersion(source);
}
