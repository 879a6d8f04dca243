/** Search results as they are shown: by document, with the matching words marked in each line. Pure. */

import type { SearchMatch } from '../wire/generated';

/** The matches of one file or conversation, with their indices in the shown order. */
export interface IDocumentMatches {
  /** Identifies it. */
  readonly document: string;
  readonly rows: readonly {
    readonly match: SearchMatch;
    readonly index: number;
  }[];
}

/** Matches by document: documents in the order of their best match, matches by rank. */
export function inShownOrder(matches: readonly SearchMatch[]): SearchMatch[] {
  const documents = new Map<string, SearchMatch[]>();
  for (const match of matches) {
    const document = documentOf(match);
    const found = documents.get(document);
    if (found === undefined) {
      documents.set(document, [match]);
    } else {
      found.push(match);
    }
  }
  return [...documents.values()].flat();
}

/** The groups of matches in the shown order. */
export function byDocument(
  matches: readonly SearchMatch[]
): readonly IDocumentMatches[] {
  const groups: (IDocumentMatches & {
    rows: IDocumentMatches['rows'][number][];
  })[] = [];
  matches.forEach((match, index) => {
    const document = documentOf(match);
    const last = groups.at(-1);
    if (last?.document === document) {
      last.rows.push({ match, index });
    } else {
      groups.push({ document, rows: [{ match, index }] });
    }
  });
  return groups;
}

function documentOf({ conversation, path }: SearchMatch): string {
  return conversation === null
    ? path
    : `conversation ${conversation.session_id}`;
}

/** Identifies a place: the same one in two answers. */
export function placeOf(match: SearchMatch): string {
  const { cell_id, conversation, line, is_output } = match;
  const part = cell_id ?? conversation?.message_id ?? line;
  return JSON.stringify([documentOf(match), part, is_output]);
}

/** A piece of a line. */
export interface ISnippetPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Characters of a line before its first matching word, where the list is wide. */
const LEAD = 48;
/** Characters that stay before it if there are more. */
const KEPT_LEAD = 24;

/** The lines of a snippet without their common indent; none begins far from its first matching word. */
export function snippetLines(
  match: Pick<SearchMatch, 'snippet' | 'marks'>
): readonly (readonly ISnippetPart[])[] {
  const lines = characterLines(match.snippet, match.marks);
  const indents = lines
    .filter(line => line.some(({ char }) => char.trim() !== ''))
    .map(line => line.findIndex(({ char }) => char.trim() !== ''));
  const indent = Math.min(...indents, Infinity);
  return lines.map(line => {
    const shown = line.slice(Number.isFinite(indent) ? indent : 0);
    const first = shown.findIndex(({ isMatch }) => isMatch);
    return first <= LEAD
      ? joined(shown)
      : joined([
          { char: '…', isMatch: false },
          ...shown.slice(first - KEPT_LEAD)
        ]);
  });
}

/** A text on one line, with its matching words apart. */
export function markedParts(
  text: string,
  marks: SearchMatch['marks']
): readonly ISnippetPart[] {
  return characterLines(text, marks).flatMap(joined);
}

interface ICharacter {
  readonly char: string;
  readonly isMatch: boolean;
}

/** The server counts code points, so the text is split into those. */
function characterLines(
  text: string,
  marks: SearchMatch['marks']
): ICharacter[][] {
  const ranges = marks as readonly [number, number][]; // Integers, by the server's schema.
  const lines: ICharacter[][] = [[]];
  Array.from(text).forEach((char, at) => {
    if (char === '\n') {
      lines.push([]);
    } else {
      const isMatch = ranges.some(([from, to]) => at >= from && at < to);
      lines.at(-1)?.push({ char, isMatch });
    }
  });
  return lines;
}

function joined(line: readonly ICharacter[]): ISnippetPart[] {
  const parts: { text: string; isMatch: boolean }[] = [];
  for (const { char, isMatch } of line) {
    const last = parts.at(-1);
    if (last?.isMatch === isMatch) {
      last.text += char;
    } else {
      parts.push({ text: char, isMatch });
    }
  }
  return parts;
}
