/** Parses the beginning of comma- or tab-separated text (RFC 4180). Pure; used by the artifact card. */

/** The first rows of a table. */
export interface ITable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether there are more rows or columns. */
  readonly more: boolean;
}

/** Number of characters that are parsed. */
const READ = 200_000;
const ROWS = 20;
const COLUMNS = 20;

/** The first rows; null for text that is not a table. */
export function readTable(text: string, separator: ',' | '\t'): ITable | null {
  const all = rowsOf(text.slice(0, READ), separator, ROWS + 2);
  const [header, ...rows] = all;
  if (header === undefined || header.length < 2) {
    return null;
  }
  const cut = (row: readonly string[]): string[] => row.slice(0, COLUMNS);
  return {
    header: cut(header),
    rows: rows.slice(0, ROWS).map(cut),
    more: rows.length > ROWS || header.length > COLUMNS || text.length > READ
  };
}

function rowsOf(text: string, separator: string, most: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length && rows.length < most) {
    const { cell, end } = cellAt(text, at, separator);
    row.push(cell);
    at = end;
    if (text[at] === separator) {
      at++;
      if (at === text.length) {
        row.push('');
      }
      continue;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    rows.push(row);
    row = [];
  }
  return row.length > 0 && rows.length < most ? [...rows, row] : rows;
}

/** One cell and its end; quoted cells may contain separators and newlines. */
function cellAt(
  text: string,
  at: number,
  separator: string
): { cell: string; end: number } {
  if (text[at] === '"') {
    const closed = closingQuote(text, at + 1);
    const cell = text.slice(at + 1, closed).replaceAll('""', '"');
    const end = endOf(text, closed + 1, separator);
    return { cell, end };
  }
  const end = endOf(text, at, separator);
  return { cell: text.slice(at, end), end };
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0;) {
    if (text[at + 1] !== '"') {
      return at;
    }
    at = text.indexOf('"', at + 2);
  }
  return text.length;
}

function endOf(text: string, from: number, separator: string): number {
  let at = from;
  while (
    at < text.length &&
    !['\n', '\r', separator].includes(text[at] ?? '')
  ) {
    at++;
  }
  return at;
}
