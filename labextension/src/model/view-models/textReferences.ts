/**
 * Finds the cells and files an answer names ("Cell 10", `data/load.py`) that this conversation knows. Pure; used for
 * links in answers.
 */

import type {
  AgentView,
  CallView,
  MessageView,
  UserView
} from '../../wire/generated';
import {
  cellLocationsOf,
  isNotebook,
  canOpenTarget,
  pathOf,
  renumbersCells
} from './callTargets';

/** The target of a reference. */
export type Reference =
  | { readonly kind: 'cell'; readonly number: number }
  | { readonly kind: 'file'; readonly path: string };

/** A reference in a text, in UTF-16 units. */
export interface IFoundReference {
  readonly from: number;
  readonly to: number;
  readonly reference: Reference;
}

/** The possible targets. */
export interface IReferenceIndex {
  /** Paths by the names a text may use. */
  readonly files: ReadonlyMap<string, string>;
  /** The notebook of the cells. */
  readonly notebook: string | null;
  /** Matches the known names; null when there are none. */
  readonly names: RegExp | null;
}

/** How many earlier messages are searched. */
const LOOK_BACK = 40;
/** Most files; the newest are kept. */
const MOST_FILES = 300;

/** The paths in this message, in those before it, and of `open` documents. */
export function knownPaths(
  answer: AgentView,
  messages: readonly MessageView[],
  open: readonly string[]
): string[] {
  const paths = upTo(answer, messages).flatMap(pathsOf);
  return [...new Set([...open, ...paths])].slice(-MOST_FILES);
}

/** The targets for these paths. */
export function referenceIndex(
  paths: readonly string[],
  notebook: string | null
): IReferenceIndex {
  const files = filesOf(paths);
  return { files, notebook, names: patternOf([...files.keys()]) };
}

/** The id of a numbered cell as of `answer`; null when only the current notebook can tell. */
export function cellIdOf(
  number: number,
  answer: AgentView,
  messages: readonly MessageView[],
  notebook: string
): string | null {
  const calls = upTo(answer, messages).flatMap(callsOf).reverse();
  for (const call of calls) {
    if (pathOf(call) !== notebook) {
      continue;
    }
    const place = cellLocationsOf(call).find(each => each.number === number);
    if (place !== undefined) {
      return place.cellId;
    }
    if (renumbersCells(call)) {
      return null;
    }
  }
  return null;
}

const FIRST = /\bcells?\s+#?(\d{1,4})\b/gi;
const NEXT =
  /^(?:\s*[,–—-]\s*(?:and\s+|or\s+)?|\s+(?:and|or|to)\s+|\s*&\s*)(\d{1,4})\b/;

/** The references in a text, in order. */
export function referencesIn(
  text: string,
  known: IReferenceIndex
): IFoundReference[] {
  const cells = known.notebook === null ? [] : cellsIn(text);
  const files = known.names === null ? [] : filesIn(text, known, known.names);
  return [...cells, ...files].sort((one, other) => one.from - other.from);
}

/** The file with this name. */
export function fileNamed(
  name: string,
  known: IReferenceIndex
): Reference | null {
  const path = known.files.get(name.trim().replace(/^\.\//, ''));
  return path === undefined ? null : { kind: 'file', path };
}

/** "Cell 3"; each number of "cells 3, 4 and 7". */
function cellsIn(text: string): IFoundReference[] {
  const found: IFoundReference[] = [];
  for (const { 0: whole, 1: digits = '', index } of text.matchAll(FIRST)) {
    let end = index + whole.length;
    found.push(cell(index, end, digits));
    const isList = /^cells/i.test(whole);
    for (let next = isList ? NEXT.exec(text.slice(end)) : null; next;) {
      const [more, number = ''] = next;
      end += more.length;
      found.push(cell(end - number.length, end, number));
      next = NEXT.exec(text.slice(end));
    }
  }
  return found;
}

function cell(from: number, to: number, digits: string): IFoundReference {
  return { from, to, reference: { kind: 'cell', number: Number(digits) } };
}

function filesIn(
  text: string,
  known: IReferenceIndex,
  names: RegExp
): IFoundReference[] {
  return [...text.matchAll(names)].flatMap(({ 0: name, index }) => {
    const path = known.files.get(name);
    return path === undefined
      ? []
      : [
          {
            from: index,
            to: index + name.length,
            reference: { kind: 'file' as const, path }
          }
        ];
  });
}

/** Every path, and each base name that is unique. */
function filesOf(paths: readonly string[]): Map<string, string> {
  const files = new Map<string, string>();
  const shared = new Set<string>();
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (files.has(name) && files.get(name) !== path) {
      shared.add(name);
    }
    files.set(name, path);
  }
  shared.forEach(name => files.delete(name));
  paths.forEach(path => files.set(path, path));
  return new Map([...files].filter(([name]) => isName(name)));
}

/** A word without an extension is rarely a file. */
function isName(name: string): boolean {
  return /[^/]\.\w+$/.test(name) || name.includes('/');
}

/** Longer names first, each as a whole word. */
function patternOf(names: readonly string[]): RegExp | null {
  const escaped = [...names]
    .sort((one, other) => other.length - one.length)
    .map(name => name.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'));
  return escaped.length === 0
    ? null
    : new RegExp(
        `(?<![\\w/.-])(?:${escaped.join('|')})(?![\\w/-]|\\.\\w)`,
        'g'
      );
}

/** The only notebook in the answer's calls; else the one active when the user wrote; else the last one named. */
export function notebookOf(
  answer: AgentView,
  messages: readonly MessageView[]
): string | null {
  const before = upTo(answer, messages);
  const own = notebooksIn(callsOf(answer));
  if (new Set(own).size === 1) {
    return own[0] ?? null;
  }
  const asked = before.filter(message => message.role === 'user').at(-1);
  const front = asked?.context?.active_document ?? null;
  return front !== null && isNotebook(front)
    ? front
    : (notebooksIn(before.flatMap(callsOf)).at(-1) ?? null);
}

function notebooksIn(calls: readonly CallView[]): string[] {
  return calls
    .map(pathOf)
    .filter(path => path !== null)
    .filter(isNotebook);
}

function upTo(
  answer: AgentView,
  messages: readonly MessageView[]
): readonly MessageView[] {
  const index = messages.lastIndexOf(answer);
  return index < 0
    ? [answer]
    : messages.slice(Math.max(0, index - LOOK_BACK), index + 1);
}

const cache = new WeakMap<MessageView, readonly string[]>();

/** The paths a message names; messages never change. */
function pathsOf(message: MessageView): readonly string[] {
  const known = cache.get(message);
  if (known !== undefined) {
    return known;
  }
  const paths =
    message.role === 'user'
      ? attached(message)
      : filesOfCalls(callsOf(message));
  cache.set(message, paths);
  return paths;
}

function attached({ attachments, context }: UserView): string[] {
  const paths = attachments.flatMap(each =>
    each.kind === 'file' ? [each.path] : []
  );
  return [
    ...(context?.open_documents ?? []),
    ...[context?.active_document ?? []].flat(),
    ...paths
  ];
}

/** Files that calls found, created or changed; not deleted or missing ones. */
function filesOfCalls(calls: readonly CallView[]): string[] {
  return calls.filter(canOpenTarget).flatMap(call => pathOf(call) ?? []);
}

function callsOf(message: MessageView): CallView[] {
  return message.role === 'agent'
    ? message.parts.filter(part => part.type === 'call')
    : [];
}
