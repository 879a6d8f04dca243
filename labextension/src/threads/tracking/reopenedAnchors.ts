/**
 * Finds a thread in a document that was just opened and may have changed while closed. Used by the thread tracker.
 */

import {
  locate,
  MIN_IDENTIFYING_LENGTH,
  type AnchorMemory
} from '../anchors/anchors';
import type { Anchor } from '../../wire/generated';
import { cellVersion } from '../../wire/versions';
import type { IUnit } from './sharedTexts';
import { threadPosition, type IThreadPosition } from './trackedThread';

/** Find an anchor among the texts of its document; null when it is lost. */
export function findReopened(
  units: readonly IUnit[],
  anchor: Anchor
): IThreadPosition | null {
  const own = units.find(({ id }) => id === anchor.cell_id) ?? null;
  if (anchor.range === null) {
    return own === null
      ? sameCell(units, anchor)
      : { unit: own, range: null, certainty: 'exact' };
  }
  const here =
    own === null ? null : threadPosition(own, locate(own.source, anchor));
  const isHere = here !== null && containsQuote(here, anchor);
  return isHere || here?.certainty === 'exact'
    ? here
    : (findInOtherCell(units, own, anchor) ?? here);
}

/** The only cell with the text of the anchor's cell; approximate. */
function sameCell(
  units: readonly IUnit[],
  { version }: Anchor
): IThreadPosition | null {
  const [unit, ...others] = units.filter(
    ({ source }) => source.trim() !== '' && cellVersion(source) === version
  );
  return unit === undefined || others.length > 0
    ? null
    : { unit, range: null, certainty: 'approximate' };
}

/** The quote in another cell; approximate. */
function findInOtherCell(
  units: readonly IUnit[],
  own: IUnit | null,
  anchor: Anchor
): IThreadPosition | null {
  if (anchor.cell_id === null || anchor.quote === '') {
    return null;
  }
  const places = units
    .filter(unit => unit !== own && unit.source.includes(anchor.quote))
    .flatMap(unit => {
      const place = threadPosition(unit, locate(unit.source, anchor));
      return place !== null && containsQuote(place, anchor) ? [place] : [];
    });
  const certain = places.filter(({ certainty }) => certainty === 'exact');
  const isTelling =
    anchor.quote.length >= MIN_IDENTIFYING_LENGTH &&
    anchor.certainty !== 'orphaned' && // The server marked it as lost.
    places.length === 1;
  const [best] = certain.length > 0 ? certain : isTelling ? places : [];
  return best === undefined ? null : { ...best, certainty: 'approximate' };
}

function containsQuote(
  { unit, range }: IThreadPosition,
  { quote }: AnchorMemory
): boolean {
  return range !== null && unit.source.slice(range.from, range.to) === quote;
}
