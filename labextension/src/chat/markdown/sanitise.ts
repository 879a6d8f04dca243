/**
 * The rendering policy for text of models and tools (chapter 13): an allow-list of harmless markup, nothing loaded from
 * anywhere, links that say where they lead. Used by `Markdown` alone; no other code may put HTML on the page.
 */

import createDOMPurify, { type Config, type DOMPurify } from 'dompurify';

import { addressOf, destinationOf, saysWhere } from '../../text/links';
import { legible, visible } from '../../text/hiddenCharacters';
import { DISPLAY, MATH } from './grammar';

const TAGS = [
  ...['a', 'abbr', 'b', 'blockquote', 'br', 'code', 'dd', 'del', 'details'],
  ...['div', 'dl', 'dt', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i'],
  ...['img', 'ins', 'kbd', 'li', 'mark', 'ol', 'p', 'pre', 's', 'samp'],
  ...['small', 'span', 'strong', 'sub', 'summary', 'sup', 'table', 'tbody'],
  ...['td', 'tfoot', 'th', 'thead', 'tr', 'u', 'ul', 'var']
];

const ATTRIBUTES = [
  ...['href', 'src', 'alt', 'title', 'colspan', 'rowspan', 'align', 'start'],
  ...['open', 'class']
];

const CONFIG = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ATTRIBUTES,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // The pattern below is for addresses; these hold numbers and keywords.
  ADD_URI_SAFE_ATTR: ['align', 'colspan', 'rowspan', 'start', 'open', 'class'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/)/i,
  RETURN_DOM_FRAGMENT: true
} satisfies Config;

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i;

/** The only classes a text may give: of its formulas. */
const CLASSES = new Set([MATH, DISPLAY]);

/** Names of pictures in the workspace, as paths from its root. */
const PICTURE_FILE = /\.(?:png|jpe?g|gif|webp|svg)$/i;
const MOST_NAME = 1000;

let purifier: DOMPurify | null = null;

/**
 * Harmless nodes for untrusted HTML. A picture of the workspace has no `src` yet: its path is its title, and who shows
 * the nodes reads it from the server as the user.
 */
export function sanitise(html: string): DocumentFragment {
  purifier ??= makePurifier();
  // Of some markup nothing is left, not even a fragment; the types do not tell.
  const nodes = purifier.sanitize(html, CONFIG) as DocumentFragment | null;
  if (nodes === null) {
    const source = document.createDocumentFragment();
    source.append(legible(html));
    return source;
  }
  // Afterwards: what is added meanwhile is purified as well, and loses its class.
  nodes.querySelectorAll('a[href]').forEach(sayWhere);
  showHidden(nodes);
  return nodes;
}

/** Hidden characters in texts and titles become codes; what were entities are characters by now. */
function showHidden(nodes: DocumentFragment): void {
  const texts = document.createTreeWalker(nodes, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() !== null) {
    const text = texts.currentNode as CharacterData; // Only those are shown to the walker.
    const shown = inside(text.data);
    if (shown !== text.data) {
      text.data = shown;
    }
  }
  for (const element of nodes.querySelectorAll('[alt], [title]')) {
    for (const name of ['alt', 'title']) {
      const text = element.getAttribute(name);
      if (text !== null) {
        element.setAttribute(name, inside(text));
      }
    }
  }
}

/** `legible` for a piece of a text: a byte order mark is needed at the start of all of it only. */
function inside(piece: string): string {
  return legible(` ${piece}`).slice(1);
}

function makePurifier(): DOMPurify {
  const made = createDOMPurify(window);
  made.addHook('beforeSanitizeAttributes', node => {
    if (node.nodeName === 'IMG') {
      nameFile(node);
    }
  });
  made.addHook('uponSanitizeAttribute', (_, data) => {
    if (data.attrName === 'class' && !CLASSES.has(data.attrValue)) {
      data.keepAttr = false;
    }
  });
  made.addHook('afterSanitizeAttributes', node => {
    if (node.nodeName === 'A') {
      tameLink(node);
    } else {
      node.removeAttribute('href');
    }
    if (node.nodeName === 'IMG') {
      tamePicture(node);
    } else {
      node.removeAttribute('src');
    }
  });
  return made;
}

/** A link opens elsewhere and tells nothing about this page. */
function tameLink(link: Element): void {
  const url = addressOf(link.getAttribute('href') ?? '');
  if (url === null) {
    link.removeAttribute('href');
    return;
  }
  link.setAttribute('href', url.href);
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
  link.setAttribute('title', visible(url.href));
}

/** A link shows its host when its text does not. */
function sayWhere(link: Element): void {
  const url = addressOf(link.getAttribute('href') ?? '');
  if (url === null) {
    return;
  }
  const { textContent, ownerDocument } = link;
  const destination = destinationOf(url);
  if (destination !== '' && !saysWhere(textContent, url)) {
    const note = ownerDocument.createElement('span');
    note.className = 'shoulders-Markdown-host';
    note.textContent = ` (${visible(destination)})`;
    link.append(note);
  }
}

/** Only the path of a picture in the workspace stays of one that did not come with the text. */
function nameFile(picture: Element): void {
  const source = picture.getAttribute('src') ?? '';
  picture.removeAttribute('title');
  if (!PICTURE.test(source)) {
    picture.removeAttribute('src');
    const path = workspacePicture(source);
    if (path !== null) {
      picture.setAttribute('title', path);
    }
  }
}

/** Pictures that came with the text or are files of the workspace; others are named, not fetched. */
function tamePicture(picture: Element): void {
  if (!picture.hasAttribute('src') && !picture.hasAttribute('title')) {
    picture.replaceWith(`[${picture.getAttribute('alt') ?? 'image'}]`);
  }
}

/** The path of a picture in the workspace; null for every address, and for what leads out of it. */
export function workspacePicture(source: string): string | null {
  const path = decoded(source)?.replace(/^(?:\.\/)+/, '') ?? '';
  const isFile =
    path.length <= MOST_NAME &&
    PICTURE_FILE.test(path) &&
    !/^[a-z][a-z0-9+.-]*:|^\/|\\|[?#]/i.test(path) &&
    visible(path) === path &&
    !path.split('/').some(piece => piece === '' || piece === '..');
  return isFile ? path : null;
}

function decoded(source: string): string | null {
  try {
    return decodeURIComponent(source);
  } catch {
    return null; // Half an escape: no name of a file.
  }
}
