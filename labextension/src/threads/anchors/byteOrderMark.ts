/**
 * The byte-order mark that some files begin with: a character of the lab's text, but none of the text that the server
 * knows. Anchors are converted where they leave the page and where they come in. Pure; used by the start, the documents
 * and the reports of threads.
 */

import type { Anchor, TextRange } from '../../wire/generated';
import { textVersion } from '../../wire/versions';

const MARK = '\ufeff';

/** A text of the lab as the server knows it, and a part of it. */
export function withoutMark(
  text: string,
  part: TextRange
): { text: string; part: TextRange } {
  return text.startsWith(MARK)
    ? { text: unmarked(text), part: shifted(part, -MARK.length) }
    : { text, part };
}

/** The anchor in a text of the server as one in the text of the lab's file. */
export function toLab(anchor: Anchor, text: string): Anchor {
  const { range, prefix, version } = anchor;
  return range === null || !text.startsWith(MARK)
    ? anchor
    : {
        ...anchor,
        range: shifted(range, MARK.length),
        prefix: prefix.length === range.from ? MARK + prefix : prefix,
        version: renamed(version, unmarked(text), text)
      };
}

/** The anchor in a text of the lab's file as one in the text of the server. */
export function toServer(anchor: Anchor, text: string): Anchor {
  const { range, prefix, quote, version } = anchor;
  return range === null || !text.startsWith(MARK)
    ? anchor
    : {
        ...anchor,
        range: shifted(range, -MARK.length),
        prefix: unmarked(prefix),
        quote: unmarked(quote),
        version: renamed(version, text, unmarked(text))
      };
}

function shifted({ from, to }: TextRange, by: number): TextRange {
  return { from: Math.max(0, from + by), to: Math.max(0, to + by) };
}

/** The version of one text as that of another; of a third as it is. */
function renamed(
  version: string | null,
  from: string,
  to: string
): string | null {
  return version !== null && version === textVersion(from)
    ? textVersion(to)
    : version;
}

function unmarked(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}
