/**
 * Rendering policy for text of models and tools and for Word documents: an allow-list of harmless markup, no loads,
 * links that show their host. Used by `Markdown` and the Word page only; no other code may put HTML on the page. See
 * docs/design/security.md.
 */

import createDOMPurify, { type Config, type DOMPurify } from 'dompurify';

import { addressOf, destinationOf, namesDestination } from '../../text/links';
import { legible, visible } from '../../text/hiddenCharacters';
import { CITATION, DISPLAY, MATH } from './grammar';

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
  // The pattern below is for addresses; these attributes hold numbers and keywords.
  ADD_URI_SAFE_ATTR: ['align', 'colspan', 'rowspan', 'start', 'open', 'class'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/)/i,
  RETURN_DOM_FRAGMENT: true
} satisfies Config;

const DOCUMENT_ATTRIBUTES = [
  ...['src', 'alt', 'colspan', 'rowspan', 'start', 'dir', 'lang'],
  ...['data-paragraph', 'data-style', 'data-comment', 'data-author'],
  'data-date'
];

/** A Word document: no links, and the marks of its paragraphs, comments and tracked changes. */
const DOCUMENT_CONFIG = {
  ...CONFIG,
  ALLOWED_TAGS: [...TAGS, 'caption'].filter(
    tag => !['a', 'details', 'summary'].includes(tag)
  ),
  ALLOWED_ATTR: DOCUMENT_ATTRIBUTES,
  ADD_URI_SAFE_ATTR: DOCUMENT_ATTRIBUTES.filter(name => name !== 'src')
} satisfies Config;

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i;

/** The only classes a text may set: those of its formulas and citations. */
const CLASSES = new Set([MATH, DISPLAY, CITATION]);

/** Image files in the workspace, as paths from its root. */
const PICTURE_FILE = /\.(?:png|jpe?g|gif|webp|svg)$/i;
const MOST_NAME = 1000;

let purifier: DOMPurify | null = null;

/**
 * Harmless nodes for untrusted HTML. A workspace image has no `src`: its path is in its title, and the view reads it
 * from the server with the user's rights.
 */
export function sanitise(html: string): DocumentFragment {
  purifier ??= makePurifier();
  // Null if no markup remains, which the types do not say.
  const nodes = purifier.sanitize(html, CONFIG) as DocumentFragment | null;
  if (nodes === null) {
    const source = document.createDocumentFragment();
    source.append(legible(html));
    return source;
  }
  // After sanitising, which would remove the class.
  nodes.querySelectorAll('a[href]').forEach(showHost);
  showHidden(nodes);
  return nodes;
}

/** Harmless nodes for the page of a Word document. Only embedded images are shown, others are replaced by their names. */
export function sanitiseDocument(html: string): DocumentFragment {
  purifier ??= makePurifier();
  const nodes = purifier.sanitize(
    html,
    DOCUMENT_CONFIG
  ) as DocumentFragment | null;
  if (nodes === null) {
    return document.createDocumentFragment();
  }
  nodes
    .querySelectorAll('img:not([src])')
    .forEach(picture =>
      picture.replaceWith(`[${picture.getAttribute('alt') ?? 'image'}]`)
    );
  showHidden(nodes);
  return nodes;
}

/** Replace hidden characters in texts and titles by codes; entities are decoded by now. */
function showHidden(nodes: DocumentFragment): void {
  const texts = document.createTreeWalker(nodes, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() !== null) {
    const text = texts.currentNode as CharacterData; // The walker visits only such nodes.
    const shown = legiblePiece(text.data);
    if (shown !== text.data) {
      text.data = shown;
    }
  }
  for (const element of nodes.querySelectorAll('[alt], [title]')) {
    for (const name of ['alt', 'title']) {
      const text = element.getAttribute(name);
      if (text !== null) {
        element.setAttribute(name, legiblePiece(text));
      }
    }
  }
}

/** `legible` for a piece inside a text: only at the start of a whole text may a byte order mark stay hidden. */
function legiblePiece(piece: string): string {
  return legible(` ${piece}`).slice(1);
}

function makePurifier(): DOMPurify {
  const made = createDOMPurify(window);
  made.addHook('beforeSanitizeAttributes', node => {
    if (node.nodeName === 'IMG') {
      keepImagePath(node);
    }
  });
  made.addHook('uponSanitizeAttribute', (_, data) => {
    if (data.attrName === 'class' && !CLASSES.has(data.attrValue)) {
      data.keepAttr = false;
    }
  });
  made.addHook('afterSanitizeAttributes', node => {
    if (node.nodeName === 'A') {
      restrictLink(node);
    } else {
      node.removeAttribute('href');
    }
    if (node.nodeName === 'IMG') {
      restrictImage(node);
    } else {
      node.removeAttribute('src');
    }
  });
  return made;
}

/** Open the link elsewhere without a referrer. */
function restrictLink(link: Element): void {
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

/** Add the host to a link whose text lacks it. */
function showHost(link: Element): void {
  const url = addressOf(link.getAttribute('href') ?? '');
  if (url === null) {
    return;
  }
  const { textContent, ownerDocument } = link;
  const destination = destinationOf(url);
  if (destination !== '' && !namesDestination(textContent, url)) {
    const note = ownerDocument.createElement('span');
    note.className = 'shoulders-Markdown-host';
    note.textContent = ` (${visible(destination)})`;
    link.append(note);
  }
}

/** Keep only the path of a workspace image. */
function keepImagePath(picture: Element): void {
  const source = picture.getAttribute('src') ?? '';
  picture.removeAttribute('title');
  if (!PICTURE.test(source)) {
    picture.removeAttribute('src');
    const path = workspaceImage(source);
    if (path !== null) {
      picture.setAttribute('title', path);
    }
  }
}

/** Show embedded and workspace images; replace others by their names. */
function restrictImage(picture: Element): void {
  if (!picture.hasAttribute('src') && !picture.hasAttribute('title')) {
    picture.replaceWith(`[${picture.getAttribute('alt') ?? 'image'}]`);
  }
}

/** The path of a workspace image; null for addresses and paths outside the workspace. */
export function workspaceImage(source: string): string | null {
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
    return null; // A broken escape cannot be a file name.
  }
}
