/** Pure rules for mentions: what can follow `@`, and which part of the text is a mention. Used by the input. */

import type { Attachment } from '../../../wire/generated';

/** Kinds of mentions, in display order. */
export const MENTION_KINDS = [
  'error',
  'cell',
  'variable',
  'notebook',
  'file',
  'folder',
  'resource',
  'thread'
] as const;

export type MentionKind = (typeof MENTION_KINDS)[number];

/** One mentionable thing. */
export interface IMention {
  readonly kind: MentionKind;
  /** Searched and shown. */
  readonly label: string;
  /** More about it; shown beside it and searched too. */
  readonly note: string;
  /** The text put into the message. */
  readonly text: string;
  readonly attachment: Attachment;
}

/** A word at the caret that starts with `@` or `/`; `to` is its exclusive end. */
export interface IToken {
  readonly trigger: '@' | '/';
  readonly from: number;
  readonly to: number;
  readonly query: string;
}

/** Most results per kind without a query, and in total with one. */
const MAX_RESULTS = 4;
const LONG = 12;

/** The token at the caret: an `@` at the start of a word, or a `/` at the start of the message. */
export function tokenAt(text: string, caret: number): IToken | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command !== null) {
    return { trigger: '/', from: 0, to: caret, query: command[1] ?? '' };
  }
  const mention = /(?:^|[\s(])@([^\s@]*)$/.exec(before);
  const query = mention?.[1];
  return query === undefined
    ? null
    : { trigger: '@', from: caret - query.length - 1, to: caret, query };
}

/** Replace the token by a name; returns the text and the caret. */
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
 * How well a text matches a query: the kind of match (0 is best), then the distance its letters span. Null if the
 * letters do not occur in order. Blanks and case are ignored.
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

/** Distance between the first and last matched letter; null if they do not all occur in order. */
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

/** The best matches of a list, best first; equal ones keep their order. */
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
 * The candidates to show: a few per kind, or the best matches with the kind of the best one first. `found` are the
 * server's results for the query.
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
    return MENTION_KINDS.flatMap(kind =>
      ofKind(all, kind).slice(0, MAX_RESULTS)
    );
  }
  const kinds = new Set(byRank(query, all).map(({ kind }) => kind));
  return [...kinds].flatMap(kind => ofKind(all, kind).slice(0, LONG));
}

/** Sort by match, then by kind. */
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
