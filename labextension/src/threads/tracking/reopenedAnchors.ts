/**
 * Where a thread is in a document that was opened, and may have been changed while it was closed. Used by the tracker of
 * threads.
 */

import { locate, TELLING, type Remembered } from '../anchors/anchors';
import type { Anchor } from '../../wire/generated';
import { cellVersion } from '../../wire/versions';
import type { IUnit } from './sharedTexts';
import { spotOf, type ISpot } from './trackedThread';

/** Find the place of an anchor among the texts of its document; null when it is not there. */
export function findReopened(
  units: readonly IUnit[],
  anchor: Anchor
): ISpot | null {
  const own = units.find(({ id }) => id === anchor.cell_id) ?? null;
  if (anchor.range === null) {
    return own === null
      ? sameCell(units, anchor)
      : { unit: own, range: null, certainty: 'exact' };
  }
  const here = own === null ? null : spotOf(own, locate(own.source, anchor));
  const isHere = here !== null && holdsQuote(here, anchor);
  return isHere || here?.certainty === 'exact'
    ? here
    : (elsewhere(units, own, anchor) ?? here);
}

/** The only cell with the text that a cell had; whether it is the one that is meant nobody knows. */
function sameCell(units: readonly IUnit[], { version }: Anchor): ISpot | null {
  const [unit, ...others] = units.filter(
    ({ source }) => source.trim() !== '' && cellVersion(source) === version
  );
  return unit === undefined || others.length > 0
    ? null
    : { unit, range: null, certainty: 'approximate' };
}

/** Where the quote is in another cell; whether it is the one that is meant nobody knows. */
function elsewhere(
  units: readonly IUnit[],
  own: IUnit | null,
  anchor: Anchor
): ISpot | null {
  if (anchor.cell_id === null || anchor.quote === '') {
    return null;
  }
  const places = units
    .filter(unit => unit !== own && unit.source.includes(anchor.quote))
    .flatMap(unit => {
      const place = spotOf(unit, locate(unit.source, anchor));
      return place !== null && holdsQuote(place, anchor) ? [place] : [];
    });
  const certain = places.filter(({ certainty }) => certainty === 'exact');
  const isTelling =
    anchor.quote.length >= TELLING &&
    anchor.certainty !== 'orphaned' && // It is known to be gone.
    places.length === 1;
  const [best] = certain.length > 0 ? certain : isTelling ? places : [];
  return best === undefined ? null : { ...best, certainty: 'approximate' };
}

function holdsQuote({ unit, range }: ISpot, { quote }: Remembered): boolean {
  return range !== null && unit.source.slice(range.from, range.to) === quote;
}
