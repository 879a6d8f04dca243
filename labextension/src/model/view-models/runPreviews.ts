/** Small preview of a run: its images and the beginning of its table. Pure. */

import type { CallView, Json } from '../../wire/generated';
import { picturesOf } from './conversationItems';
import { serverToolOf } from './toolOwners';
import { visible } from '../../text/hiddenCharacters';

/** The beginning of a table in a cell's output. */
export interface ITablePreview {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Total rows and columns, without the index column; null when unknown. */
  readonly size: { readonly rows: number; readonly columns: number } | null;
}

export interface IRunPreview {
  readonly pictures: readonly string[];
  /** Number of images not shown. */
  readonly more: number;
  /** The last table. */
  readonly table: ITablePreview | null;
}

const RUNS = /^(run_|verify_)/;
const MOST_PICTURES = 3;
const ROWS = 3;
const COLUMNS = 6;
const CHARACTERS = 40;
/** Longest HTML that is parsed, in characters. */
const LONGEST = 100_000;

/** The preview of a run, or of the images of a server's tool; null for other calls and when there is nothing to show. */
export function previewOfRun(call: CallView): IRunPreview | null {
  const isServers = serverToolOf(call.tool) !== null;
  if ((!RUNS.test(call.tool) && !isServers) || call.result === null) {
    return null;
  }
  const pictures = picturesOf(call);
  const table = isServers ? null : lastTableOf(call);
  const shown = pictures.slice(0, MOST_PICTURES);
  return shown.length === 0 && table === null
    ? null
    : { pictures: shown, more: pictures.length - shown.length, table };
}

function lastTableOf(call: CallView): ITablePreview | null {
  const tables = htmlsOf(call).map(tableIn);
  return tables.filter(found => found !== null).at(-1) ?? null;
}

function htmlsOf({ result }: CallView): string[] {
  const outputs = isObject(result?.data) ? result.data.outputs : null;
  return (Array.isArray(outputs) ? outputs : []).flatMap(output => {
    const data = isObject(output) ? output.data : null;
    const html = isObject(data) ? data['text/html'] : null;
    return typeof html === 'string' && html.length <= LONGEST ? [html] : [];
  });
}

/** The text of the first table. Its document is never displayed, so nothing in it runs or loads. */
export function tableIn(html: string): ITablePreview | null {
  const page = /<table\b/i.test(html)
    ? new DOMParser().parseFromString(html, 'text/html')
    : null;
  const table = page?.querySelector('table') ?? null;
  if (page === null || table === null || table.rows.length === 0) {
    return null;
  }
  const { head, rows } = partsOf(table);
  table.remove(); // The remaining text states the size.
  return {
    header: head === null ? [] : textsOf(head),
    rows: rows.slice(0, ROWS).map(textsOf),
    size: parseSize(page.body.textContent) ?? sizeOf(rows)
  };
}

interface IParts {
  readonly head: HTMLTableRowElement | null;
  readonly rows: readonly HTMLTableRowElement[];
}

/** The header row (the last of several) and the rows below it. */
function partsOf({ rows, tHead }: HTMLTableElement): IParts {
  const all = [...rows];
  const heads = all.filter(row => tHead?.contains(row) === true);
  const last = heads.at(-1);
  const [first, ...others] = all;
  if (last !== undefined) {
    return { head: last, rows: all.slice(heads.length) };
  }
  return first?.querySelector('td') === null
    ? { head: first, rows: others }
    : { head: null, rows: all };
}

function textsOf({ cells }: HTMLTableRowElement): string[] {
  return [...cells].slice(0, COLUMNS).map(({ textContent }) => {
    const text = visible(textContent.replace(/\s+/g, ' ').trim());
    return text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)}…` : text;
  });
}

/** Parse the size as pandas ("5 rows × 3 columns") and polars ("shape: (5, 3)") print it. */
function parseSize(text: string): ITablePreview['size'] {
  const found =
    /([\d,]+) rows × ([\d,]+) columns/.exec(text) ??
    /shape: \(([\d_,]+?), ([\d_,]+)\)/.exec(text);
  const [rows, columns] = (found?.slice(1) ?? []).map(digits =>
    Number(digits.replace(/[,_]/g, ''))
  );
  return rows === undefined || columns === undefined ? null : { rows, columns };
}

function sizeOf(rows: readonly HTMLTableRowElement[]): ITablePreview['size'] {
  const [first] = rows;
  return first === undefined
    ? null
    : { rows: rows.length, columns: first.querySelectorAll('td').length };
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
