/** Markdown that goes through HTML and the sanitiser: all but lists, quotes, tables and code. Used by `Markdown`. */

import type { Token } from 'marked';
import * as React from 'react';

import { DISPLAY, MATH, toHtml } from './grammar';
import { sanitise } from './sanitise';
import { useMathematics } from './useMathematics';
import { useImages } from './useImages';
import { useReferenceLinks } from './useReferenceLinks';

/** A block of text. */
export function Html({ token }: { token: Token }): React.JSX.Element {
  const place = useSanitised<HTMLDivElement>(toHtml(token));
  return <div className="shoulders-Markdown-block" ref={place} />;
}

/** Fills an element with HTML that was sanitised; the same HTML leaves it as it is. */
export function useSanitised<T extends HTMLElement>(
  html: string
): React.RefObject<T> {
  const place = React.useRef<T>(null);
  const typeset = useMathematics();
  const show = useImages();
  const link = useReferenceLinks();
  React.useLayoutEffect(() => {
    const element = place.current;
    if (element === null) {
      return;
    }
    element.replaceChildren(sanitise(html));
    link(element);
    for (const formula of element.querySelectorAll<HTMLElement>(`.${MATH}`)) {
      typeset(formula, formula.className === DISPLAY);
    }
    for (const picture of element.querySelectorAll('img')) {
      show(picture);
    }
  }, [html, typeset, show, link]);
  return place;
}
