/**
 * Links the cells and files that an answer names. Only this code knows the targets; no text can create such a link.
 * Used by `Html`.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  fileNamed,
  referencesIn,
  type IReferenceIndex,
  type Reference
} from '../../model/view-models/textReferences';
import { visible } from '../../text/hiddenCharacters';
import { useTrans } from '../../ui/hooks';
import { MATH } from './grammar';

/** The targets that text can refer to. */
export interface IReferenceTargets {
  readonly known: IReferenceIndex;
  readonly open: (reference: Reference) => void;
}

/** Null where nothing is linked. */
export const ReferenceTargetsContext =
  React.createContext<IReferenceTargets | null>(null);

/** Not linked inside links, code and formulas. */
const NOT_LINKED = `a, pre, code, .${MATH}`;

/** Adds links to an element that was just filled. */
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

  /** Models write file names as code. */
  private linkCode(code: HTMLElement): void {
    const file = fileNamed(code.textContent, this.referring.known);
    if (file !== null && code.closest('a, pre') === null) {
      const link = this.make(file);
      link.append(...code.childNodes);
      code.append(link);
    }
  }

  private make(reference: Reference): HTMLElement {
    const { trans, referring } = this;
    const link = document.createElement('a');
    link.className = 'shoulders-LocationLink';
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

/** The text nodes that may hold references. */
function textsIn(block: HTMLElement): Text[] {
  const walker = document.createTreeWalker(
    block,
    NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
    node =>
      node instanceof Element && node.matches(NOT_LINKED)
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
