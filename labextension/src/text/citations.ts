/**
 * The markers by which an answer cites the workspace: `[[path#cell-id]]`, `[[path:12]]`, `[[path]]`. Pure; used by the
 * Markdown grammar and by the views of citations. The tool `semantic_search` gives the markers to the model.
 */

import { visible } from './hiddenCharacters';

/** A cited place. */
export interface ICitation {
  /** Path in the workspace. */
  readonly path: string;
  /** The cell of a notebook. */
  readonly cellId: string | null;
  /** The line of a file, from 1. */
  readonly line: number | null;
}

export const MARKER_START = '[[';

/** Longest marker, in characters. */
const MOST_CHARACTERS = 300;

/** Characters that no cited path has, though some file systems allow them: brackets, quotes, wildcards. */
const NO_PATH = '[\\]<>"`|*?\\\\\\n';
const MARKER = new RegExp(`^\\[\\[([^\\s${NO_PATH}][^${NO_PATH}]*)\\]\\]`);
const UNFINISHED = new RegExp(
  `^\\[\\[(?:[^\\s${NO_PATH}][^${NO_PATH}]*\\]?)?$`
);

/** The id as nbformat defines it. */
const CELL = /^(.+\.ipynb)#([\w-]{1,64})$/;
const LINE = /^(.+):([1-9]\d{0,6})$/;

const SCHEME = /^[a-z][a-z\d+.-]*:/i;
/** Tells a file from other text in double brackets: a table of numbers, the name of a wiki page. */
const EXTENSION = /[^/]\.[a-z]\w*$/i;
const LETTER = /\p{L}/u;

/** The marker at the start of a text and its place; null if there is none. */
export function citationAt(
  text: string
): { readonly raw: string; readonly citation: ICitation } | null {
  const [raw = '', body = ''] = MARKER.exec(text) ?? [];
  if (raw === '' || raw.length > MOST_CHARACTERS) {
    return null;
  }
  const citation = placeOf(body);
  const isNamed = (citation.line === null ? EXTENSION : LETTER).test(
    citation.path
  );
  return isNamed && isInWorkspace(citation.path) ? { raw, citation } : null;
}

function placeOf(body: string): ICitation {
  const [, notebook, cellId] = CELL.exec(body) ?? [];
  if (notebook !== undefined && cellId !== undefined) {
    return { path: notebook, cellId, line: null };
  }
  const [, path = body, line] = LINE.exec(body) ?? [];
  return { path, cellId: null, line: line === undefined ? null : Number(line) };
}

/** Whether a path is relative, without a scheme, hidden characters or steps out of the workspace. */
function isInWorkspace(path: string): boolean {
  return (
    !SCHEME.test(path) &&
    visible(path) === path &&
    path.trim() === path &&
    !path.split('/').some(piece => ['', '.', '..'].includes(piece))
  );
}

/** The marker of a place; also its key. */
export function markerOf({ path, cellId, line }: ICitation): string {
  const cell = cellId === null ? '' : `#${cellId}`;
  const place = line === null ? cell : `:${line}`;
  return `${MARKER_START}${path}${place}]]`;
}

/**
 * A growing text without the start of a marker at its end. The result only grows with the text, so that the splitter
 * of `chat/markdown` keeps its blocks.
 */
export function withoutUnfinishedMarker(text: string): string {
  const end = text.slice(-MOST_CHARACTERS);
  const start = end.lastIndexOf(MARKER_START);
  if (start >= 0 && UNFINISHED.test(end.slice(start))) {
    return text.slice(0, text.length - end.length + start);
  }
  return text.endsWith('[') ? text.slice(0, -1) : text;
}
