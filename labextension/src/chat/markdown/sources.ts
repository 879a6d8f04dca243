/** What an answer refers to: its links, each page once. Used by the message's list of sources. */

import { walkTokens, type Token, type Tokens } from 'marked';

import { addressOf } from '../../model/links';
import { lex } from './grammar';

/** A page an answer refers to. */
export interface ISource {
  readonly href: string;
  /** What the answer calls it; its address where it has no other name. */
  readonly title: string;
}

/** Marks of references, which name nothing: `1`, `[1]`, `^1`. */
const MARK = /^[[^]*\d{1,3}\]?$/;

/** What is added to addresses to count visits. */
const COUNTING = /^(?:utm_\w+|fbclid|gclid)$/;

/** The pages that texts refer to, in their order; two addresses of one page are one source. */
export function sourcesIn(texts: readonly string[]): ISource[] {
  const found = new Map<string, ISource>();
  for (const text of texts) {
    if (/https?:\/\//i.test(text)) {
      void walkTokens([...lex(text)], token => note(found, token));
    }
  }
  return [...found.values()];
}

function note(found: Map<string, ISource>, token: Token): void {
  if (token.type !== 'link') {
    return;
  }
  const { href, text } = token as Tokens.Link; // marked's own tag
  const url = addressOf(href);
  if (url === null || url.protocol === 'mailto:') {
    return;
  }
  const key = pageOf(url);
  const known = found.get(key);
  const named = text.trim() !== '' && !MARK.test(text) && text !== href;
  if (known === undefined) {
    found.set(key, { href, title: named ? text : nameOf(url) });
  } else if (named && known.title === nameOf(url)) {
    found.set(key, { ...known, title: text });
  }
}

/** The address without what does not make another page of it. */
function pageOf(url: URL): string {
  const page = new URL(url);
  page.hash = '';
  for (const name of [...page.searchParams.keys()]) {
    if (COUNTING.test(name)) {
      page.searchParams.delete(name);
    }
  }
  const path = page.pathname.replace(/\/+$/, '');
  return `${page.host}${path}${page.search}`;
}

/** The end of the path is what tells pages of one host apart. */
function nameOf(url: URL): string {
  const path = url.pathname.replace(/\/+$/, '');
  return path === '' ? url.host : `${url.host}${path}`;
}
