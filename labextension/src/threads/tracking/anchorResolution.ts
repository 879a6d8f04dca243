/**
 * Finds a thread after a text change: with its characters, else by its text. Used by the thread tracker. Uncertain
 * locations are marked as such; a lost thread stays lost until its text is back.
 */

import {
  locate,
  locateAmong,
  locateBetween,
  MIN_IDENTIFYING_LENGTH
} from '../anchors/anchors';
import type { TextRange } from '../../wire/generated';
import { alignText, around, newPart, remainingPart } from './textAlignment';
import {
  isDuplicateRange,
  resolveRelativeRange,
  type IRelativeRange,
  type IResolvedRange
} from './relativePositions';
import { findRearranged, type IRearrangedPart } from './rearrangedText';
import {
  countOf,
  inserted,
  lengthOf,
  survival,
  type IChange,
  type IUnit,
  type Units
} from './sharedTexts';
import {
  isExact,
  isOfCell,
  threadPosition,
  type IThreadPosition,
  type ITrackedThread
} from './trackedThread';

/** Resolves the threads of a document after one change. */
export class AnchorResolver {
  constructor(private readonly change: IChange) {
    this.units = change.units;
    const before = change.isStructural
      ? new Set(change.before.map(({ text }) => text))
      : null;
    this.isNew = ({ text }) => before !== null && !before.has(text);
    this.fresh = change.isStructural
      ? change.after.filter(
          unit => change.deltas.has(unit.text) || this.isNew(unit)
        )
      : [...change.deltas.keys()].flatMap(text => change.units.get(text) ?? []);
    this.written = change.isStructural
      ? Infinity
      : Math.max(0, ...[...change.deltas.values()].map(lengthOf));
  }

  /** Whether the change may have moved a thread. */
  concerns(thread: ITrackedThread): boolean {
    const { position, memory } = thread;
    const unit = position?.unit;
    if (unit !== undefined && this.units.get(unit.text) !== unit) {
      return true;
    }
    if (position?.certainty === 'exact' || this.fresh.length === 0) {
      return false;
    }
    // Typing in another text cannot bring back a lost or uncertain thread; only undo can.
    return (
      this.written >= memory.quote.length ||
      this.alive(thread, pin => pin.isCertain).length > 0
    );
  }

  /** The location after the change; null when it is lost. */
  resolve(thread: ITrackedThread): IThreadPosition | null {
    return isOfCell(thread) ? this.ofCell(thread) : this.ofText(thread);
  }

  private ofText(thread: ITrackedThread): IThreadPosition | null {
    return (
      this.byPinnedCharacters(thread) ??
      this.byRearrangedText(thread) ??
      this.byQuote(thread) ??
      this.byRemains(thread) ??
      this.byLikelihood(thread) ??
      this.byOtherCell(thread)
    );
  }

  /** Follow the pinned characters, through undone deletions too. */
  private byPinnedCharacters(thread: ITrackedThread): IThreadPosition | null {
    const alive = this.alive(thread, pin => pin.isCertain);
    const same = alive.find(({ pin, place }) => textAt(place) === pin.quote);
    const best = same ?? alive[0];
    if (!best || (best.pin.isPoint && this.isWholeNew(best.place.unit))) {
      return null;
    }
    const { unit, range } = best.place;
    if (
      alive.some(({ pin, place }) => isDuplicateRange(pin, place, best.place))
    ) {
      return { unit, range, certainty: 'approximate' };
    }
    if (same !== undefined || !this.isDoubtful(thread, best.place)) {
      return { unit, range, certainty: 'exact' };
    }
    const quoted = this.byQuote(thread);
    return quoted?.certainty === 'exact'
      ? quoted
      : { unit, range, certainty: 'approximate' };
  }

  /** Whether so much of the text was rewritten that the rest may match by chance, or only white space is left. */
  private isDoubtful(
    { position }: ITrackedThread,
    place: IResolvedRange
  ): boolean {
    const { unit, range } = place;
    const delta = this.change.deltas.get(unit.text);
    if (!position?.range) {
      return false;
    }
    if (range.from < range.to && textAt(place).trim() === '') {
      return true;
    }
    if (position.unit.text !== unit.text || delta === undefined) {
      return position.certainty !== 'exact';
    }
    const { remaining, added } = survival(delta, position.range);
    const isRewritten =
      added > 0 && 2 * remaining < position.range.to - position.range.from;
    return isRewritten || position.certainty !== 'exact';
  }

  /** Follow a cell that was recreated with the same text, or a text in which only white space changed. */
  private byRearrangedText({
    position,
    last,
    earlier
  }: ITrackedThread): IThreadPosition | null {
    const from = position ?? last;
    if (!from?.range) {
      return null;
    }
    const { unit, range, certainty } = from;
    const copy = this.copyOf(unit);
    if (copy !== null) {
      return { unit: copy, range, certainty };
    }
    if (position === null) {
      return null;
    }
    const part = this.partOf(unit, range);
    return part === null
      ? this.byAlignment(position, earlier)
      : {
          unit: part.unit,
          range: part.range,
          certainty: part.isWhole ? certainty : 'approximate'
        };
  }

  /** Follow the unchanged parts of a replaced text, with deleted parts that are back. */
  private byAlignment(
    { unit, range, certainty }: IThreadPosition,
    earlier: string
  ): IThreadPosition | null {
    const next = this.successor(unit);
    const place = next && range && alignText(unit.source, next.source, range);
    if (!next || !range || !place) {
      return null;
    }
    const back = around(next.source, earlier, place.range);
    const isBack = sizeOf(back) > sizeOf(around(unit.source, earlier, range));
    return {
      unit: next,
      range: isBack ? back : place.range,
      certainty: place.isSure && !isBack ? certainty : 'approximate'
    };
  }

  /** The text that replaced another. */
  private successor({ id, text }: IUnit): IUnit | null {
    const next =
      this.units.get(text) ?? this.change.after.find(unit => unit.id === id);
    return next !== undefined && this.isWholeNew(next) ? next : null;
  }

  /** The new cell with the same id, or the only new one with the text of a removed cell. */
  private copyOf({ id, source }: IUnit): IUnit | null {
    const same = this.fresh.filter(
      unit => this.isNew(unit) && unit.source === source
    );
    const own = same.find(unit => unit.id === id);
    const [first, ...others] = same;
    const isOnly = first !== undefined && others.length === 0;
    return own ?? (isOnly && source.trim() !== '' ? first : null);
  }

  /** Find the quote in inserted text. */
  private byQuote({
    memory,
    last,
    position
  }: ITrackedThread): IThreadPosition | null {
    const own = (position ?? last)?.unit.id ?? memory.cell_id;
    const found = this.fresh.flatMap(unit => {
      const isRewritten =
        position !== null && unit.id === own && this.isWholeNew(unit);
      const place = isRewritten
        ? locate(unit.source, memory)
        : locateAmong(unit.source, memory, this.isInserted(unit));
      const held = threadPosition(unit, place);
      return held === null ? [] : [held];
    });
    const mine = found.find(({ unit }) => unit.id === own);
    const best = [mine, ...found].find(isExact);
    if (best === undefined) {
      const held = found.find(place => containsQuote(place, memory.quote));
      return mine ?? held ?? null;
    }
    const isKnown = best === mine || isExact(position);
    return isKnown && this.isOnly(memory.quote)
      ? best
      : { ...best, certainty: 'approximate' };
  }

  /** Whether a text occurs once in the document and did not occur twice before. */
  private isOnly(quote: string): boolean {
    const { before, after } = this.change;
    return countOf(before, quote) <= 1 && countOf(after, quote) <= 1;
  }

  /** Find the remains of the text in a replaced text. */
  private byRemains({ position }: ITrackedThread): IThreadPosition | null {
    const next = position && this.successor(position.unit);
    const range =
      next && position.range
        ? remainingPart(position.unit.source, next.source, position.range)
        : null;
    return next && range && { unit: next, range, certainty: 'approximate' };
  }

  /** The likeliest location: the previous guess, or text that replaced the quote. */
  private byLikelihood(thread: ITrackedThread): IThreadPosition | null {
    const { position, last, memory } = thread;
    const guess = this.guess(thread);
    const id = guess?.unit.id ?? (position ?? last)?.unit.id ?? memory.cell_id;
    const unit = this.change.after.find(each => each.id === id);
    if (unit === undefined) {
      return null;
    }
    const isEmpty = guess === null || guess.range.from === guess.range.to;
    const only = isEmpty ? onlyOccurrence(unit, memory.quote) : null;
    return only ?? this.instead(unit, thread, guess);
  }

  /** Find the text of a thread from a removed cell in another cell; approximate. */
  private byOtherCell({
    position,
    memory
  }: ITrackedThread): IThreadPosition | null {
    if (position?.certainty !== 'approximate') {
      return null;
    }
    const places = this.change.after.flatMap(unit => {
      const place = threadPosition(unit, locate(unit.source, memory));
      return place !== null && containsQuote(place, memory.quote)
        ? [place]
        : [];
    });
    const best = places.find(isExact) ?? places[0];
    return best === undefined ? null : { ...best, certainty: 'approximate' };
  }

  private instead(
    unit: IUnit,
    { memory }: ITrackedThread,
    guess: IResolvedRange | null
  ): IThreadPosition | null {
    return guess === null
      ? threadPosition(unit, locateBetween(unit.source, memory))
      : { ...guess, certainty: 'approximate' };
  }

  /** The previous guess. */
  private guess(thread: ITrackedThread): IResolvedRange | null {
    const guesses = this.alive(thread, pin => !pin.isCertain);
    const found = guesses.find(
      ({ place: { unit, range } }) =>
        range.from < range.to || !this.isWholeNew(unit)
    );
    return found?.place ?? null;
  }

  private ofCell(thread: ITrackedThread): IThreadPosition | null {
    const { after } = this.change;
    const from = thread.position ?? thread.last;
    const same = from === null ? undefined : this.units.get(from.unit.text);
    const own = [...thread.cells]
      .reverse()
      .map(id => (same?.id === id ? same : after.find(unit => unit.id === id)))
      .find(unit => unit !== undefined);
    const unit =
      own ??
      (from && (this.copyOf(from.unit) ?? this.joined(thread, from.unit)));
    return unit ? { unit, range: null, certainty: 'exact' } : null;
  }

  /** The cell that now contains the text of a removed one. */
  private joined({ position }: ITrackedThread, unit: IUnit): IUnit | null {
    const range = { from: 0, to: unit.source.length };
    const part = position === null ? null : this.partOf(unit, range);
    return part?.isWhole ? part.unit : null;
  }

  private alive(
    { pins }: ITrackedThread,
    isMeant: (pin: IRelativeRange) => boolean
  ): { pin: IRelativeRange; place: IResolvedRange }[] {
    return [...pins]
      .reverse()
      .filter(isMeant)
      .flatMap(pin => {
        const place = resolveRelativeRange(pin, this.units);
        return place === null ? [] : [{ pin, place }];
      });
  }

  private isWholeNew(unit: IUnit): boolean {
    const delta = this.change.deltas.get(unit.text);
    return (
      this.isNew(unit) ||
      delta?.every(({ retain }) => retain === undefined) === true
    );
  }

  /** Whether a range of a text did not exist before the change. */
  private isInserted(unit: IUnit): (from: number, to: number) => boolean {
    const { before, deltas } = this.change;
    const delta = deltas.get(unit.text);
    const old = before.find(({ id }) => id === unit.id);
    const parts =
      old !== undefined && this.isWholeNew(unit)
        ? [newPart(old.source, unit.source)]
        : delta === undefined
          ? [{ from: 0, to: unit.source.length }]
          : inserted(delta);
    const isSame = this.isRearranged;
    return (from, to) =>
      !isSame && parts.some(part => part.from <= from && to <= part.to);
  }

  /** Whether the change wrote nothing new. */
  private get isRearranged(): boolean {
    this.map ??= { partOf: findRearranged(this.change) };
    return this.map.partOf !== null;
  }

  private partOf(unit: IUnit, range: TextRange): IRearrangedPart | null {
    this.map ??= { partOf: findRearranged(this.change) };
    return this.map.partOf?.(unit, range) ?? null;
  }

  private readonly units: Units;
  /** Texts that are new or contain new text. */
  private readonly fresh: readonly IUnit[];
  /** The length of the longest insertion into one text. */
  private readonly written: number;
  private readonly isNew: (unit: IUnit) => boolean;
  private map: { partOf: ReturnType<typeof findRearranged> } | null = null;
}

function sizeOf({ from, to }: TextRange): number {
  return to - from;
}

function textAt({ unit, range }: { unit: IUnit; range: TextRange }): string {
  return unit.source.slice(range.from, range.to);
}

/** The only occurrence of a text that is long enough to identify it. */
function onlyOccurrence(unit: IUnit, quote: string): IThreadPosition | null {
  const from = unit.source.indexOf(quote);
  const isOnly = from >= 0 && from === unit.source.lastIndexOf(quote);
  return isOnly && quote.length >= MIN_IDENTIFYING_LENGTH
    ? {
        unit,
        range: { from, to: from + quote.length },
        certainty: 'approximate'
      }
    : null;
}

function containsQuote(
  { unit, range }: IThreadPosition,
  quote: string
): boolean {
  return range !== null && quote !== '' && textAt({ unit, range }) === quote;
}
