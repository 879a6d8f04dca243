/**
 * Makes the cells and files that an answer names links to them. What they lead to is known here alone: no text can make
 * such a link by itself. Used by `Html`.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  fileCalled,
  referencesIn,
  type IKnown,
  type Reference
} from '../../model/view-models/textReferences';
import { visible } from '../../text/hiddenCharacters';
import { useTrans } from '../../ui/hooks';
import { MATH } from './grammar';

/** What the text around can refer to. */
export interface IReferenceTargets {
  readonly known: IKnown;
  readonly open: (reference: Reference) => void;
}

/** Null where nothing is linked. */
export const ReferenceTargetsContext =
  React.createContext<IReferenceTargets | null>(null);

/** Of other links, of code and of formulas nothing is linked. */
const APART = `a, pre, code, .${MATH}`;

/** Makes links in an element that was just filled. */
export function useReferenceLinks(): (block: HTMLElement) => void {
  const referring = React.useContext(ReferenceTargetsContext);
  const trans = useTrans();
  return React.useCallback(
    block => {
      if (referring !== null) {
        new Linker(referring, trans).link(block);
      }
    },
    [referring, trans]
  );
}

class Linker {
  constructor(
    private readonly referring: IReferenceTargets,
    private readonly trans: TranslationBundle
  ) {}

  link(block: HTMLElement): void {
    textsIn(block).forEach(text => this.linkIn(text));
    for (const code of block.querySelectorAll('code')) {
      this.linkCode(code);
    }
  }

  private linkIn(text: Text): void {
    const { data } = text;
    const found = referencesIn(data, this.referring.known);
    if (found.length === 0) {
      return;
    }
    const pieces: (string | HTMLElement)[] = [];
    let end = 0;
    for (const { from, to, reference } of found) {
      const link = this.make(reference);
      link.append(data.slice(from, to));
      pieces.push(data.slice(end, from), link);
      end = to;
    }
    text.replaceWith(...pieces, data.slice(end));
  }

  /** Models write names of files as code. */
  private linkCode(code: HTMLElement): void {
    const file = fileCalled(code.textContent, this.referring.known);
    if (file !== null && code.closest('a, pre') === null) {
      const link = this.make(file);
      link.append(...code.childNodes);
      code.append(link);
    }
  }

  private make(reference: Reference): HTMLElement {
    const { trans, referring } = this;
    const link = document.createElement('a');
    link.className = 'shoulders-PlaceLink';
    link.setAttribute('role', 'link');
    link.tabIndex = 0;
    link.title = trans.__(
      'Show in %1',
      visible(
        reference.kind === 'file'
          ? reference.path
          : (referring.known.notebook ?? '')
      )
    );
    link.addEventListener('click', () => referring.open(reference));
    link.addEventListener('keydown', event => {
      if (event.key === 'Enter') {
        event.preventDefault();
        referring.open(reference);
      }
    });
    return link;
  }
}

/** The texts that may hold references. */
function textsIn(block: HTMLElement): Text[] {
  const walker = document.createTreeWalker(
    block,
    NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
    node =>
      node instanceof Element && node.matches(APART)
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT
  );
  const texts: Text[] = [];
  while (walker.nextNode() !== null) {
    if (walker.currentNode instanceof Text) {
      texts.push(walker.currentNode);
    }
  }
  return texts;
}
