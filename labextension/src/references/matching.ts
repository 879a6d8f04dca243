/** Finds references by what is typed, and writes them in a line. Pure; used by completion and the panel. */

import type { Reference } from '../wire/generated';

/** References whose key, authors, title or year have all words, those whose key begins so first. */
export function matching(
  references: readonly Reference[],
  query: string,
  most: number
): readonly Reference[] {
  const words = plain(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    return references.slice(0, most);
  }
  const scored: [number, Reference][] = [];
  for (const reference of references) {
    const score = scoreOf(reference, words);
    if (score > 0) {
      scored.push([score, reference]);
    }
  }
  return scored
    .sort(([a], [b]) => b - a)
    .slice(0, most)
    .map(([, reference]) => reference);
}

/** Authors as a short list: `Lovelace and Hopper`, `Vaswani et al.` */
export function shortAuthors(authors: readonly string[]): string {
  const [first = '', second] = authors.map(familyName);
  if (second === undefined || authors.length > 2) {
    return second === undefined ? first : `${first} et al.`;
  }
  return `${first} & ${second}`;
}

function scoreOf(reference: Reference, words: readonly string[]): number {
  const { key, rest } = searchable(reference);
  let score = 1;
  for (const word of words) {
    if (key.startsWith(word)) {
      score += 4;
    } else if (key.includes(word)) {
      score += 2;
    } else if (` ${rest}`.includes(` ${word}`)) {
      score += 1;
    } else if (!rest.includes(word)) {
      return 0;
    }
  }
  return score;
}

/** What is searched, made once for each reference: a list of thousands is searched with each key typed. */
function searchable(reference: Reference): { key: string; rest: string } {
  let made = SEARCHABLE.get(reference);
  if (made === undefined) {
    const { authors, key, title, venue, year } = reference;
    made = {
      key: plain(key),
      rest: plain(`${authors.join(' ')} ${title} ${year} ${venue}`)
    };
    SEARCHABLE.set(reference, made);
  }
  return made;
}

const SEARCHABLE = new WeakMap<Reference, { key: string; rest: string }>();

/** Lower case without accents. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

function familyName(name: string): string {
  const words = name.split(' ');
  const particle = words.findIndex(
    (word, at) => at > 0 && /^\p{Ll}/u.test(word)
  );
  return particle > 0
    ? words.slice(particle).join(' ')
    : (words[words.length - 1] ?? name);
}
