/**
 * What a message can name after `@`, and which part of the text is such a name: pure rules. Used by the input, which
 * shows them in a list.
 */

import type { Attachment } from '../../../wire/generated';

/** What can be named; lists show them in this order. */
export const MENTION_KINDS = [
  'error',
  'cell',
  'variable',
  'notebook',
  'file',
  'folder',
  'thread'
] as const;

export type MentionKind = (typeof MENTION_KINDS)[number];

/** One thing that can be named. */
export interface IMention {
  readonly kind: MentionKind;
  /** What is searched for and shown. */
  readonly label: string;
  /** More about it, shown beside it and searched, too. */
  readonly note: string;
  /** What the message says of it. */
  readonly text: string;
  readonly attachment: Attachment;
}

/** A word at the caret that begins with a sign; `to` is behind its last character. */
export interface IToken {
  readonly sign: '@' | '/';
  readonly from: number;
  readonly to: number;
  readonly query: string;
}

/** Shown of each kind while nothing is searched for, and of everything while something is. */
const SHORT = 4;
const LONG = 12;

/** The name being written at the caret: an `@` at the beginning of a word, or a `/` that begins the message. */
export function tokenAt(text: string, caret: number): IToken | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command !== null) {
    return { sign: '/', from: 0, to: caret, query: command[1] ?? '' };
  }
  const mention = /(?:^|[\s(])@([^\s@]*)$/.exec(before);
  const query = mention?.[1];
  return query === undefined
    ? null
    : { sign: '@', from: caret - query.length - 1, to: caret, query };
}

/** The text with the name in the place of what was written of it, and where the caret goes. */
export function replaceToken(
  text: string,
  { from, to }: IToken,
  name: string
): { text: string; caret: number } {
  const after = text.slice(to);
  const gap = /^\s/.test(after) ? '' : ' ';
  return {
    text: text.slice(0, from) + name + gap + after,
    caret: from + name.length + 1
  };
}

/**
 * How well a text matches what was typed: first the kind of match (0 is best), then the letters it is spread over.
 * Null when the letters do not stand in it in their order. Blanks and case do not count.
 */
export function rankOf(query: string, text: string): [number, number] | null {
  const wanted = query.replace(/\s/g, '').toLowerCase();
  const lowered = text.replace(/\s/g, '').toLowerCase();
  const spread = spreadOf(wanted, lowered);
  if (spread === null) {
    return null;
  }
  if (lowered === wanted) {
    return [0, 0];
  }
  if (lowered.startsWith(wanted)) {
    return [1, 0];
  }
  return lowered.includes(wanted) ? [2, 0] : [4, spread];
}

/** Letters between the first and the last that was looked for; null when they are not all there in order. */
function spreadOf(wanted: string, text: string): number | null {
  let at = -1;
  let start = -1;
  for (const letter of wanted) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) {
      return null;
    }
    start = start < 0 ? at : start;
  }
  return at - start;
}

/** The things of a list that match best, the best first; those that match equally stay in their order. */
export function bestOf<T>(
  query: string,
  things: readonly T[],
  words: (thing: T) => readonly [name: string, more: string]
): T[] {
  const ranked = things.flatMap(thing => {
    const [name, more] = words(thing);
    const inName = rankOf(query, name);
    const inMore = inName === null ? rankOf(query, more) : null;
    const rank = inName ?? (inMore && [inMore[0] + 5, inMore[1]]);
    return rank === null ? [] : [{ thing, rank }];
  });
  ranked.sort((a, b) => compare(a.rank, b.rank));
  return ranked.map(({ thing }) => thing);
}

function compare(a: readonly number[], b: readonly number[]): number {
  return (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0);
}

/**
 * What to show of what can be named: a few of each kind, or what matches best, the kind of the best match first.
 * `found` is what the server found for the query.
 */
export function chooseMentions(
  query: string,
  known: readonly IMention[],
  found: readonly IMention[]
): IMention[] {
  const best = bestOf(query, known, ({ label, note }) => [label, note]);
  const taken = new Set(best.map(identity));
  const all = [...best, ...found.filter(item => !taken.has(identity(item)))];
  if (query === '') {
    return MENTION_KINDS.flatMap(kind => ofKind(all, kind).slice(0, SHORT));
  }
  const kinds = new Set(byRank(query, all).map(({ kind }) => kind));
  return [...kinds].flatMap(kind => ofKind(all, kind).slice(0, LONG));
}

/** All of them by how well their names match; equal ones in the order of their kinds. */
function byRank(query: string, mentions: readonly IMention[]): IMention[] {
  const weighed = mentions.map(mention => ({
    mention,
    rank: [
      rankOf(query, mention.label)?.[0] ?? 9,
      MENTION_KINDS.indexOf(mention.kind)
    ]
  }));
  weighed.sort((a, b) => compare(a.rank, b.rank));
  return weighed.map(({ mention }) => mention);
}

function ofKind(mentions: readonly IMention[], kind: MentionKind): IMention[] {
  return mentions.filter(mention => mention.kind === kind);
}

function identity({ attachment }: IMention): string {
  return JSON.stringify(attachment);
}
