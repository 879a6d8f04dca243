/** The card of a citation: what the works are, on hover and on focus. Shows text only; made by the controller. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { visible } from '../text/hiddenCharacters';
import type { Reference } from '../wire/generated';
import type { ICitationSpan } from './citationMarks';

const DELAY_MS = 250;
const GAP_PX = 6;
const MOST_AUTHORS = 6;

/** Shows one card at a time, over the page. */
export class CitationCard {
  constructor(
    private readonly trans: TranslationBundle,
    private readonly find: (key: string) => Reference | undefined
  ) {}

  /** Show the card while the pointer or the focus is on a citation. */
  attach({ node, keys }: ICitationSpan): void {
    const show = (): void => this.show(node, keys);
    node.addEventListener('mouseenter', () => {
      this.timer = window.setTimeout(show, DELAY_MS);
    });
    node.addEventListener('mouseleave', () => this.hideSoon());
    node.addEventListener('focus', show);
    node.addEventListener('blur', event => {
      const to = event.relatedTarget;
      if (!(to instanceof Node && this.card?.contains(to) === true)) {
        this.hide();
      }
    });
    node.addEventListener('keydown', event => {
      if (event.key === 'Escape' && this.card !== null) {
        event.stopPropagation();
        this.hide();
      }
    });
  }

  hide(): void {
    window.clearTimeout(this.timer);
    this.card?.remove();
    this.card = null;
  }

  private hideSoon(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.hide(), DELAY_MS);
  }

  private show(node: HTMLElement, keys: readonly string[]): void {
    this.hide();
    const card = document.createElement('div');
    card.className = 'jp-ThemedContainer shoulders-CitationCard';
    card.setAttribute('role', 'tooltip');
    card.id = 'shoulders-citation-card';
    card.append(...keys.map(key => this.work(key)));
    card.addEventListener('mouseenter', () => window.clearTimeout(this.timer));
    card.addEventListener('mouseleave', () => this.hideSoon());
    document.body.append(card);
    node.setAttribute('aria-describedby', card.id);
    place(card, node.getBoundingClientRect());
    this.card = card;
  }

  private work(key: string): HTMLElement {
    const { trans } = this;
    const reference = this.find(key);
    const part = element('div', 'shoulders-CitationCard-work');
    if (reference === undefined) {
      part.append(
        element('div', 'shoulders-CitationCard-title', key),
        element(
          'div',
          'shoulders-mod-warning',
          trans.__('No bibliography of the workspace has this key.')
        )
      );
      return part;
    }
    const { authors, doi, title, unverified, venue, year } = reference;
    const names = authors.slice(0, MOST_AUTHORS).join(', ');
    part.append(
      element('div', 'shoulders-CitationCard-title', title || key),
      element(
        'div',
        'shoulders-CitationCard-authors',
        authors.length > MOST_AUTHORS ? trans.__('%1 and others', names) : names
      ),
      element(
        'div',
        'shoulders-CitationCard-venue',
        [venue, year].filter(Boolean).join(', ')
      )
    );
    if (doi !== '') {
      part.append(doiLink(doi));
    }
    if (unverified !== '') {
      part.append(
        element(
          'div',
          'shoulders-mod-warning',
          trans.__('Not verified: %1', unverified)
        )
      );
    }
    return part;
  }

  private card: HTMLElement | null = null;
  private timer = 0;
}

function doiLink(doi: string): HTMLElement {
  const link = document.createElement('a');
  link.href = `https://doi.org/${encodeURI(doi)}`;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  link.textContent = visible(`doi.org/${doi}`);
  return link;
}

function element(tag: string, className: string, text = ''): HTMLElement {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = visible(text);
  return node;
}

/** Below the citation, or above it where there is no room. */
function place(card: HTMLElement, at: DOMRect): void {
  const { offsetHeight, offsetWidth } = card;
  const fitsBelow = at.bottom + GAP_PX + offsetHeight < window.innerHeight;
  const top = fitsBelow ? at.bottom + GAP_PX : at.top - GAP_PX - offsetHeight;
  const left = Math.min(at.left, window.innerWidth - offsetWidth - GAP_PX);
  card.style.top = `${Math.max(top, 0)}px`;
  card.style.left = `${Math.max(left, 0)}px`;
}
