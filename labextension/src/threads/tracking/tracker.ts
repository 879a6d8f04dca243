/**
 * Tracks the threads of one open document through every change of its shared
 * text: typing, undo, split, merged and moved cells, replaced texts. Used by
 * `ThreadDocument`; needs no editor.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { Doc } from 'yjs';

import { remember, whole } from '../anchors/anchors';
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
  type ISpot,
  type ITrackedThread
} from './trackedThread';

/** UTF-16 units kept of a quote; the server's limit. */
const LONGEST_QUOTE = 20_000;
/** UTF-16 units kept of a whole cell, to identify it after its removal. */
const LONGEST_CELL = 2_000;

/** The threads that a change moved. */
export interface IMoved {
  readonly ids: readonly string[];
  /** Whether this page made the change. */
  readonly isLocal: boolean;
  /** Whether cells moved: every thread may have another cell number. */
  readonly isReordered: boolean;
}

/** The positions of the threads of one document. */
export class Tracker implements IDisposable {
  constructor(doc: Doc, isNotebook: boolean) {
    this.texts = new SharedTexts(doc, isNotebook, change =>
      this.onChange(change)
    );
    this.twins = twinsIn(this.texts.units);
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
    this.settle(thread, findReopened(this.texts.units, anchor));
  }

  untrack(id: string): void {
    this.threads.delete(id);
  }

  /**
   * The position of a thread; null when it is lost, undefined when it is not
   * tracked.
   */
  spot(id: string): ISpot | null | undefined {
    return this.threads.get(id)?.spot;
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
    const { target, output, memory, spot } = thread;
    const { quote, prefix, suffix } = memory;
    const range = spot === null ? memory.range : spot.range;
    return {
      document,
      cell_id: spot === null ? memory.cell_id : spot.unit.id,
      target,
      range:
        range && spot !== null
          ? { from: range.from, to: shortened(spot.unit.source, range) }
          : range,
      quote,
      prefix,
      suffix,
      version:
        spot === null
          ? memory.version
          : hasVersion
            ? versionOf(spot.unit)
            : null,
      certainty: this.certaintyOf(spot),
      output
    };
  }

  /**
   * Whether an anchor is certain and belongs to the current version of a text.
   */
  isHere({ cell_id, certainty, version }: Anchor): boolean {
    const unit = this.texts.units.find(({ id }) => id === cell_id);
    return (
      certainty === 'exact' && unit !== undefined && versionOf(unit) === version
    );
  }

  /** Certainty for readers who know cells by id: undo can duplicate a cell. */
  private certaintyOf(spot: ISpot | null): Anchor['certainty'] {
    if (spot === null) {
      return 'orphaned';
    }
    const { id } = spot.unit;
    return id !== null && this.twins.has(id) ? 'approximate' : spot.certainty;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.texts.dispose();
      this.threads.clear();
      Signal.clearData(this);
    }
  }

  private onChange(change: IChange): void {
    const before = this.twins;
    if (change.isStructural) {
      this.twins = twinsIn(change.after);
    }
    if (this.threads.size === 0) {
      return;
    }
    const settling = new AnchorResolver(change);
    const ids = [...this.threads.values()]
      .filter(thread => {
        const isMoved = this.isMoved(settling, thread);
        const id = thread.spot?.unit.id ?? '';
        return isMoved || before.has(id) !== this.twins.has(id);
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
    const { spot } = thread;
    this.settle(thread, this.spotAfter(settling, thread));
    return !isSameSpot(spot, thread.spot);
  }

  /**
   * An error here must not reach the user's typing: the thread counts as lost.
   */
  private spotAfter(
    settling: AnchorResolver,
    thread: ITrackedThread
  ): ISpot | null {
    try {
      return settling.spot(thread);
    } catch (error) {
      console.error(`The thread ${thread.id} was not followed:`, error);
      return null;
    }
  }

  private settle(thread: ITrackedThread, spot: ISpot | null): void {
    if (spot === null) {
      thread.last = thread.spot ?? thread.last;
      thread.spot = null;
      return;
    }
    thread.spot = spot;
    if (isOfCell(thread)) {
      keepCell(thread, spot);
    } else {
      keepText(thread, spot, this.texts.map);
    }
  }

  private readonly texts: SharedTexts;
  private readonly threads = new Map<string, ITrackedThread>();
  /** Ids that several cells have. */
  private twins: ReadonlySet<string>;
}

function twinsIn(units: readonly IUnit[]): ReadonlySet<string> {
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
function keepCell(thread: ITrackedThread, { unit, certainty }: ISpot): void {
  const { id, source } = unit;
  if (id !== null && thread.cells.at(-1) !== id) {
    thread.cells = [...thread.cells.filter(cell => cell !== id), id];
  }
  if (certainty === 'exact') {
    const { target, memory } = thread;
    const quote =
      target === 'cell'
        ? source.slice(0, whole(source, LONGEST_CELL))
        : memory.quote;
    thread.memory = { ...memory, cell_id: id, quote };
  }
}

/** Pin the text of a thread, and remember it if certain. */
function keepText(thread: ITrackedThread, spot: ISpot, map: Units): void {
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

function isSameSpot(one: ISpot | null, other: ISpot | null): boolean {
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
  return whole(source, Math.min(to, from + LONGEST_QUOTE));
}

function versionOf({ id, source }: IUnit): string {
  return id === null ? textVersion(source) : cellVersion(source);
}
