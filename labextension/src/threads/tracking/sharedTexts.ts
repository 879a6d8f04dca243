/**
 * The texts of a shared document: the source of each cell of a notebook, or that of a file. Reports how each
 * transaction changes them. Used by the thread tracker; does not know JupyterLab.
 */

import type { IDisposable } from '@lumino/disposable';
import { Map as YMap, Text as YText } from 'yjs';
import type {
  AbstractType,
  Array as YArray,
  Doc,
  Transaction,
  YEvent
} from 'yjs';

/** A text of the document in its current state. */
export interface IUnit {
  /** Id of its cell; null for a file. */
  readonly id: string | null;
  readonly text: YText;
  readonly source: string;
}

/** Insertions and deletions in a text, in order. */
export type Delta = readonly {
  readonly insert?: unknown;
  readonly delete?: number;
  readonly retain?: number;
}[];

/** The texts of a document by their shared types. */
export type Units = ReadonlyMap<object, IUnit>;

/** The changes of one transaction. */
export interface IChange {
  /** Whether this page made it. */
  readonly isLocal: boolean;
  /** Whether texts were added, removed or moved. */
  readonly isStructural: boolean;
  readonly before: readonly IUnit[];
  readonly after: readonly IUnit[];
  readonly units: Units;
  readonly deltas: ReadonlyMap<YText, Delta>;
}

type Events = readonly YEvent<AbstractType<unknown>>[];

/** The texts of one document. */
export class SharedTexts implements IDisposable {
  constructor(
    doc: Doc,
    readonly isNotebook: boolean,
    private readonly onChange: (change: IChange) => void
  ) {
    this.root = isNotebook ? doc.getArray('cells') : doc.getText('source');
    this.order = this.read([]);
    this.byText = mapOf(this.order);
    this.root.observeDeep(this.onEvents);
  }

  /** In document order. */
  get units(): readonly IUnit[] {
    return this.order;
  }

  get map(): Units {
    return this.byText;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      this.root.unobserveDeep(this.onEvents);
    }
  }

  private readonly onEvents = (
    events: Events,
    transaction: Transaction
  ): void => {
    const deltas = new Map<YText, Delta>();
    for (const { target, delta } of events.filter(isOfText)) {
      deltas.set(target, delta as Delta);
    }
    const isStructural = events.some(event => this.isStructural(event));
    if (deltas.size > 0 || isStructural) {
      const { order: before } = this;
      this.renew(deltas.keys());
      if (isStructural) {
        this.order = this.read(this.order);
        this.byText = mapOf(this.order);
      }
      const { order: after, byText: units } = this;
      const { local: isLocal } = transaction;
      this.onChange({ isLocal, isStructural, before, after, units, deltas });
    }
  };

  /** Whether cells, or the text of a cell, were added or removed. */
  private isStructural({ target, keys }: Events[number]): boolean {
    return (
      target === this.root ||
      (target.parent === this.root && keys.has('source'))
    );
  }

  /** Read changed texts again; typing in one of many cells costs as much as in a file. */
  private renew(changed: Iterable<YText>): void {
    const order = [...this.order];
    for (const text of changed) {
      const unit = this.byText.get(text);
      if (unit !== undefined) {
        const renewed = { ...unit, source: text.toJSON() };
        order[order.indexOf(unit)] = renewed;
        this.byText.set(text, renewed);
      }
    }
    this.order = order;
  }

  private read(units: readonly IUnit[]): IUnit[] {
    const known = mapOf(units);
    return this.texts().map(({ id, text }) => {
      const before = known.get(text);
      return before?.id === id ? before : { id, text, source: text.toJSON() };
    });
  }

  private texts(): { id: string | null; text: YText }[] {
    if (this.root instanceof YText) {
      return [{ id: null, text: this.root }];
    }
    return this.root.toArray().flatMap(cell => {
      const text: unknown = cell instanceof YMap ? cell.get('source') : null;
      const id: unknown = cell instanceof YMap ? cell.get('id') : null;
      return text instanceof YText && typeof id === 'string'
        ? [{ id, text }]
        : [];
    });
  }

  private order: readonly IUnit[];
  private byText: Map<object, IUnit>;
  private readonly root: YText | YArray<unknown>;
  private disposed = false;
}

function isOfText(
  event: Events[number]
): event is Events[number] & { target: YText } {
  return event.target instanceof YText;
}

function mapOf(units: readonly IUnit[]): Map<object, IUnit> {
  return new Map(units.map(unit => [unit.text, unit]));
}

/** The inserted ranges, in offsets of the text after the change. */
export function inserted(delta: Delta): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = [];
  let at = 0;
  for (const { insert, retain } of delta) {
    if (typeof insert === 'string') {
      parts.push({ from: at, to: at + insert.length });
    }
    at += typeof insert === 'string' ? insert.length : (retain ?? 0);
  }
  return parts;
}

/** How much of a range is left after a change, and how much was inserted in it. */
export function survival(
  delta: Delta,
  { from, to }: { from: number; to: number }
): { remaining: number; added: number } {
  let remaining = to - from;
  let added = 0;
  let at = 0;
  for (const { insert, retain, delete: removed } of delta) {
    if (typeof insert === 'string') {
      added += at >= from && at <= to ? insert.length : 0;
    } else if (removed !== undefined) {
      remaining -= Math.max(0, Math.min(to, at + removed) - Math.max(from, at));
    }
    at += (retain ?? 0) + (removed ?? 0);
  }
  return { remaining, added };
}

/** The length of the text a change inserted. */
export function lengthOf(delta: Delta): number {
  return inserted(delta).reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Occurrences of a text, counted up to two. */
export function countOf(units: readonly IUnit[], text: string): number {
  return units.reduce((count, { source }) => {
    const first = count > 1 || text === '' ? -1 : source.indexOf(text);
    const isTwice = first >= 0 && source.includes(text, first + 1);
    return count + (first < 0 ? 0 : isTwice ? 2 : 1);
  }, 0);
}
