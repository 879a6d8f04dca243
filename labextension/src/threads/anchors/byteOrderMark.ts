/**
 * Handles the byte order mark of some files: JupyterLab's text has it, the server's has not. Anchors are converted
 * where they enter and leave the page. Pure; used by new threads, thread documents and the anchor reporter.
 */

import type { Anchor, TextRange } from '../../wire/generated';
import { textVersion } from '../../wire/versions';

const MARK = '\ufeff';

/** The server's version of a text and of a range in it. */
export function withoutMark(
  text: string,
  part: TextRange
): { text: string; part: TextRange } {
  return text.startsWith(MARK)
    ? { text: unmarked(text), part: shifted(part, -MARK.length) }
    : { text, part };
}

/** Convert an anchor from the server's text to JupyterLab's. */
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

/** Convert an anchor from JupyterLab's text to the server's. */
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

/** Replace the version of one text by that of the other; other versions stay. */
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
