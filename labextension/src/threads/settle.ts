/**
 * Where a thread is after the text was changed: with its characters where they are, else where its text is now. Used by
 * the tracker of threads. Uncertain places are called so; what is gone is gone until its text is back.
 */

import { locate, locateAmong, locateBetween } from '../model/anchors';
import type { TextRange } from '../wire/generated';
import { whereIs, type IPin, type IPinned, type Units } from './pins';
import { rearranged, type IPart } from './rearranged';
import { inserted, survival, type IChange, type IUnit } from './texts';
import { isOfCell, spotOf, type ISpot, type IThread } from './thread';

/** A change, with what is asked of it for each thread. */
export class Settling {
  constructor(private readonly change: IChange) {
    this.units = new Map(change.after.map(unit => [unit.text, unit]));
    const before = new Set(change.before.map(({ text }) => text));
    this.fresh = change.after.filter(
      ({ text }) => change.deltas.has(text) || !before.has(text)
    );
    this.isNew = ({ text }) => !before.has(text);
  }

  /** Whether a thread may be elsewhere now. */
  concerns({ spot }: IThread): boolean {
    if (spot === null) {
      return this.fresh.length > 0;
    }
    return (
      this.units.get(spot.unit.text) !== spot.unit ||
      (spot.certainty !== 'exact' && this.fresh.length > 0)
    );
  }

  /** Where it is now; null when it is not there. */
  spot(thread: IThread): ISpot | null {
    return isOfCell(thread) ? this.ofCell(thread) : this.ofText(thread);
  }

  private ofText(thread: IThread): ISpot | null {
    return (
      this.pinned(thread) ??
      this.moved(thread) ??
      this.quoted(thread) ??
      this.likely(thread)
    );
  }

  /** With the characters it was put at, undone deletions too. */
  private pinned(thread: IThread): ISpot | null {
    const alive = this.alive(thread, pin => pin.isCertain);
    const same = alive.find(({ pin, place }) => textAt(place) === pin.quote);
    const best = same ?? alive[0];
    const isLost = best?.pin.isPoint && this.isWholeNew(best.place.unit);
    if (best === undefined || isLost === true) {
      return null;
    }
    const { unit, range } = best.place;
    if (same !== undefined || !this.isDoubtful(thread, best.place)) {
      return { unit, range, certainty: 'exact' };
    }
    const quoted = this.quoted(thread);
    return quoted?.certainty === 'exact'
      ? quoted
      : { unit, range, certainty: 'approximate' };
  }

  /** Whether so much of the text was written anew that what is left of it may be there by chance. */
  private isDoubtful({ spot }: IThread, { unit }: IPinned): boolean {
    const delta = this.change.deltas.get(unit.text);
    if (!spot?.range) {
      return false;
    }
    if (spot.unit.text !== unit.text || delta === undefined) {
      return spot.certainty !== 'exact';
    }
    const { kept, added } = survival(delta, spot.range);
    const isRewritten = added > 0 && 2 * kept < spot.range.to - spot.range.from;
    return isRewritten || spot.certainty !== 'exact';
  }

  /** With its cell, which is another of the same text now; or with its text, of which only white space changed. */
  private moved({ spot, last }: IThread): ISpot | null {
    const from = spot ?? last;
    if (!from?.range) {
      return null;
    }
    const { unit, range, certainty } = from;
    const copy = this.copyOf(unit);
    if (copy !== null) {
      return { unit: copy, range, certainty };
    }
    const part = spot === null ? null : this.partOf(unit, range);
    return (
      part && {
        unit: part.unit,
        range: part.range,
        certainty: part.isWhole ? certainty : 'approximate'
      }
    );
  }

  /** The new cell of the same id, or the only new one, that has the text of one that is gone. */
  private copyOf({ id, source }: IUnit): IUnit | null {
    const same = this.fresh.filter(
      unit => this.isNew(unit) && unit.source === source
    );
    const own = same.find(unit => unit.id === id);
    const [first, ...others] = same;
    const isOnly = first !== undefined && others.length === 0;
    return own ?? (isOnly && source.trim() !== '' ? first : null);
  }

  /** Where its quote was inserted. */
  private quoted({ memory, last, spot }: IThread): ISpot | null {
    const own = (spot ?? last)?.unit.id ?? memory.cell_id;
    const found = this.fresh.flatMap(unit => {
      const place = this.isWholeNew(unit)
        ? locate(unit.source, { ...memory, version: null })
        : locateAmong(unit.source, memory, this.isInserted(unit));
      const held = spotOf(unit, place);
      return held === null ? [] : [held];
    });
    const mine = found.find(({ unit }) => unit.id === own);
    if (mine?.certainty === 'exact') {
      return mine;
    }
    const [first, ...others] = found.filter(
      place => place.certainty === 'exact'
    );
    if (first !== undefined) {
      return others.length === 0
        ? first
        : { ...first, certainty: 'approximate' };
    }
    return mine ?? found.find(place => holds(place, memory.quote)) ?? null;
  }

  /** Where it is likeliest: where it was thought to be, or where other text stands in its place. */
  private likely(thread: IThread): ISpot | null {
    const guess = this.alive(thread, pin => !pin.isCertain).find(
      ({ place }) =>
        place.range.from < place.range.to || !this.isWholeNew(place.unit)
    );
    if (guess !== undefined) {
      return { ...guess.place, certainty: 'approximate' };
    }
    const from = thread.spot ?? thread.last;
    const id = from?.unit.id ?? thread.memory.cell_id;
    const unit = this.change.after.find(each => each.id === id);
    return unit === undefined
      ? null
      : spotOf(unit, locateBetween(unit.source, thread.memory));
  }

  private ofCell(thread: IThread): ISpot | null {
    const { after } = this.change;
    const own = [...thread.cells]
      .reverse()
      .map(id => after.find(unit => unit.id === id))
      .find(unit => unit !== undefined);
    const from = thread.spot ?? thread.last;
    const unit =
      own ??
      (from && (this.copyOf(from.unit) ?? this.joined(thread, from.unit)));
    return unit ? { unit, range: null, certainty: 'exact' } : null;
  }

  /** The cell that has the text of one that is gone now. */
  private joined({ spot }: IThread, unit: IUnit): IUnit | null {
    const range = { from: 0, to: unit.source.length };
    const part = spot === null ? null : this.partOf(unit, range);
    return part?.isWhole ? part.unit : null;
  }

  private alive(
    { pins }: IThread,
    isMeant: (pin: IPin) => boolean
  ): { pin: IPin; place: IPinned }[] {
    return [...pins]
      .reverse()
      .filter(isMeant)
      .flatMap(pin => {
        const place = whereIs(pin, this.units);
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

  private isInserted({ text }: IUnit): (from: number, to: number) => boolean {
    const parts = inserted(this.change.deltas.get(text) ?? []);
    return (from, to) => parts.some(part => part.from <= from && to <= part.to);
  }

  private partOf(unit: IUnit, range: TextRange): IPart | null {
    this.map ??= { partOf: rearranged(this.change) };
    return this.map.partOf?.(unit, range) ?? null;
  }

  private readonly units: Units;
  /** Texts that are new, or have new text in them. */
  private readonly fresh: readonly IUnit[];
  private readonly isNew: (unit: IUnit) => boolean;
  private map: { partOf: ReturnType<typeof rearranged> } | null = null;
}

function textAt({ unit, range }: { unit: IUnit; range: TextRange }): string {
  return unit.source.slice(range.from, range.to);
}

function holds({ unit, range }: ISpot, quote: string): boolean {
  return range !== null && quote !== '' && textAt({ unit, range }) === quote;
}
