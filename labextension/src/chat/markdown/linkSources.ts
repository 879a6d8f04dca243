/** What an answer refers to: its links, each page once. Used by the message's list of sources. */

import { walkTokens, type Token, type Tokens } from 'marked';

import { addressOf } from '../../text/links';
import { lex } from './grammar';

/** A page an answer refers to. */
export interface ISource {
  readonly url: URL;
  /** What the answer calls it; the page's path where it has no other name. */
  readonly title: string;
}

/** Marks of references, which name nothing: `1`, `[1]`, `^1`. */
const MARK = /^[[^]*\d{1,3}\]?$/;

/** What is added to addresses to count visits. */
const COUNTING = /^(?:utm_\w+|fbclid|gclid)$/;

/** The pages a text refers to, in their order; two addresses of one page are one source. */
export function sourcesIn(text: string): ISource[] {
  const found = new Map<string, ISource>();
  if (/https?:\/\//i.test(text)) {
    void walkTokens([...lex(text)], token => note(found, token));
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
  const named = isName(text);
  if (known === undefined) {
    found.set(key, { url, title: named ? text : pathOf(url) });
  } else if (named && known.title === pathOf(known.url)) {
    found.set(key, { ...known, title: text });
  }
}

/** Whether a link's text names the page: it is no mark and no address. */
function isName(text: string): boolean {
  return text.trim() !== '' && !MARK.test(text) && addressOf(text) === null;
}

/** The address without what does not make another page of it. */
function pageOf(url: URL): string {
  const page = new URL(url);
  for (const name of [...page.searchParams.keys()]) {
    if (COUNTING.test(name)) {
      page.searchParams.delete(name);
    }
  }
  return `${page.host}${pathOf(page)}${page.search}`;
}

/** What tells the pages of one host apart. */
function pathOf(url: URL): string {
  return url.pathname.replace(/\/+$/, '') || '/';
}
