/** One-line summary of consecutive read calls ("Read 6 files · Searched 2 times"). Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { CallView } from '../../wire/generated';
import { plainTool } from './agentActivities';
import { callTitle } from './toolOwners';

type Kind =
  | 'file'
  | 'notebook'
  | 'output'
  | 'search'
  | 'folder'
  | 'variable'
  | 'server'
  | 'other';

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^(read_file|read_document|get_document_info)$/, 'file'],
  [/^read_notebook$/, 'notebook'],
  [/^(read_cell_output|read_output)$/, 'output'],
  [/^(search_|semantic_)/, 'search'],
  [/^list_files$/, 'folder'],
  [/^inspect_variables$/, 'variable'],
  [/^mcp__/, 'server']
];

/** One phrase per kind, in order of first occurrence. */
export function readPhrases(
  calls: readonly CallView[],
  trans: TranslationBundle
): string[] {
  const kinds = new Map<Kind, CallView[]>();
  for (const call of calls) {
    const kind = kindOf(call);
    kinds.set(kind, [...(kinds.get(kind) ?? []), call]);
  }
  return [...kinds].map(([kind, of]) => phrase(kind, of, trans));
}

function kindOf({ tool }: CallView): Kind {
  return KINDS.find(([names]) => names.test(plainTool(tool)))?.[1] ?? 'other';
}

function phrase(
  kind: Kind,
  calls: readonly CallView[],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'file':
      return trans._n('Read %1 file', 'Read %1 files', distinct(calls));
    case 'notebook':
      return trans._n('Read %1 notebook', 'Read %1 notebooks', distinct(calls));
    case 'output':
      return trans._n('Read %1 output', 'Read %1 outputs', calls.length);
    case 'search':
      return trans._n('Searched once', 'Searched %1 times', calls.length);
    case 'folder':
      return trans._n('Listed %1 folder', 'Listed %1 folders', distinct(calls));
    case 'variable':
      return trans._n(
        'Looked at variables',
        'Looked at variables %1 times',
        calls.length
      );
    case 'server':
      return trans._n(
        'Called %1 server tool',
        'Called %1 server tools',
        calls.length
      );
    case 'other':
      return trans._n('Looked at %1 item', 'Looked at %1 items', calls.length);
  }
}

/** Counts a file read in several pieces once. */
function distinct(calls: readonly CallView[]): number {
  return new Set(calls.map(nameOf)).size;
}

function nameOf(call: CallView): string {
  const path = call.arguments?.path;
  return typeof path === 'string' ? path : (call.target ?? call.call_id);
}

/** The names of what was read, without duplicates. */
export function readTargets(calls: readonly CallView[]): string[] {
  return [...new Set(calls.map(call => call.target ?? callTitle(call)))];
}
