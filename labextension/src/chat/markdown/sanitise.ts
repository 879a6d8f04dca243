/**
 * The rendering policy for text of models and tools (chapter 13): an allow-list of harmless markup, nothing loaded from
 * anywhere, links that say where they lead. Used by `Markdown` alone; no other code may put HTML on the page.
 */

import createDOMPurify, { type Config, type DOMPurify } from 'dompurify';

const TAGS = [
  ...['a', 'abbr', 'b', 'blockquote', 'br', 'code', 'dd', 'del', 'details'],
  ...['div', 'dl', 'dt', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i'],
  ...[
    'img',
    'ins',
    'kbd',
    'li',
    'mark',
    'ol',
    'p',
    'pre',
    's',
    'samp',
    'small'
  ],
  ...[
    'span',
    'strong',
    'sub',
    'summary',
    'sup',
    'table',
    'tbody',
    'td',
    'tfoot'
  ],
  ...['th', 'thead', 'tr', 'u', 'ul', 'var']
];

const ATTRIBUTES = [
  ...['href', 'src', 'alt', 'title', 'colspan', 'rowspan', 'align', 'start'],
  'open'
];

const CONFIG = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ATTRIBUTES,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // The pattern below is for addresses; these hold numbers and keywords.
  ADD_URI_SAFE_ATTR: ['align', 'colspan', 'rowspan', 'start', 'open'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/)/i,
  RETURN_DOM_FRAGMENT: true
} satisfies Config;

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i;
const PAGE = /^(?:https?:|mailto:)/i;

let purifier: DOMPurify | null = null;

/** Harmless nodes for untrusted HTML. */
export function sanitise(html: string): DocumentFragment {
  purifier ??= makePurifier();
  return purifier.sanitize(html, CONFIG);
}

function makePurifier(): DOMPurify {
  const made = createDOMPurify(window);
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

/** A link opens elsewhere, tells nothing about this page, and shows its host when its text does not. */
function tameLink(link: Element): void {
  const target = link.getAttribute('href') ?? '';
  if (!PAGE.test(target)) {
    link.removeAttribute('href');
    return;
  }
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
  link.setAttribute('title', target);
  const host = hostOf(target);
  if (host !== '' && !link.textContent.includes(host)) {
    const note = link.ownerDocument.createElement('span');
    note.className = 'shoulders-Markdown-host';
    note.textContent = ` (${host})`;
    link.append(note);
  }
}

/** Only pictures that came with the text; others are named, not fetched. */
function tamePicture(picture: Element): void {
  if (!PICTURE.test(picture.getAttribute('src') ?? '')) {
    picture.replaceWith(`[${picture.getAttribute('alt') ?? 'image'}]`);
  }
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return ''; // Not an address: it leads nowhere.
  }
}
