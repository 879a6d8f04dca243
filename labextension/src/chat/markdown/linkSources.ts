/** The links of an answer, each page once. Used by the message's list of sources. */

import { walkTokens, type Token, type Tokens } from 'marked';

import { addressOf } from '../../text/links';
import { lex } from './grammar';

/** A page an answer links to. */
export interface ISource {
  readonly url: URL;
  /** The link text, or the page's path if that is no name. */
  readonly title: string;
  /** Whether a tool of the conversation found or fetched the page. */
  readonly isUsed: boolean;
}

/** Reference marks such as `1`, `[1]`, `^1`, which are no names. */
const MARK = /^[[^]*\d{1,3}\]?$/;

/** Tracking parameters in addresses. */
const COUNTING = /^(?:utm_\w+|fbclid|gclid)$/;

/**
 * The linked pages, in order; two addresses of one page are one source. `pages` are those that the conversation's tools
 * returned, whose titles are better than a link's text.
 */
export function sourcesIn(
  text: string,
  pages: readonly { readonly url: string; readonly title: string }[] = []
): ISource[] {
  const found = new Map<string, ISource>();
  if (/https?:\/\//i.test(text)) {
    void walkTokens([...lex(text)], token => note(found, token));
  }
  const titles = new Map(
    pages.flatMap(({ url, title }) => {
      const address = addressOf(url);
      return address === null ? [] : [[pageKey(address), title] as const];
    })
  );
  return [...found].map(([key, source]) => {
    const title = titles.get(key);
    return title === undefined
      ? source
      : { ...source, title: title === '' ? source.title : title, isUsed: true };
  });
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
  const key = pageKey(url);
  const known = found.get(key);
  const named = isName(text);
  if (known === undefined) {
    found.set(key, {
      url,
      title: named ? text : pathOf(url),
      isUsed: false
    });
  } else if (named && known.title === pathOf(known.url)) {
    found.set(key, { ...known, title: text });
  }
}

/** Whether a link text names the page, rather than being a mark or an address. */
function isName(text: string): boolean {
  return text.trim() !== '' && !MARK.test(text) && addressOf(text) === null;
}

/** What the addresses of one page share: no scheme, fragment or tracking parameters. */
export function pageKey(url: URL): string {
  const page = new URL(url);
  for (const name of [...page.searchParams.keys()]) {
    if (COUNTING.test(name)) {
      page.searchParams.delete(name);
    }
  }
  return `${page.host}${pathOf(page)}${page.search}`;
}

/** The path without trailing slashes. */
function pathOf(url: URL): string {
  return url.pathname.replace(/\/+$/, '') || '/';
}
