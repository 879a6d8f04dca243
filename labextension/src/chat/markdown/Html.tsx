/** Markdown that goes through HTML and the sanitiser: all but lists, quotes, tables and code. Used by `Markdown`. */

import type { Token } from 'marked';
import * as React from 'react';

import { DISPLAY, MATH, toHtml } from './grammar';
import { sanitise } from './sanitise';
import { useReferenceLinks } from './useReferenceLinks';
import { useHost, useTrans } from '../../ui/hooks';

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

/** Shows an `img` of the sanitiser's: one without `src` names a file by its title. */
function useImages(): (picture: HTMLImageElement) => void {
  const { picture: read } = useHost();
  const trans = useTrans();
  const known = React.useRef(new Map<string, Promise<string>>());
  React.useEffect(() => {
    const { current: urls } = known;
    return () => {
      urls.forEach(
        url =>
          void url.then(
            made => URL.revokeObjectURL(made),
            () => undefined // There never was a picture.
          )
      );
      urls.clear();
    };
  }, []);
  return React.useCallback(
    picture => {
      const path = picture.title;
      if (picture.hasAttribute('src') || path === '') {
        return;
      }
      picture.alt ||= path;
      const url = known.current.get(path) ?? read(path).then(urlOf);
      known.current.set(path, url);
      url.then(
        source => {
          picture.src = source;
        },
        () => picture.replaceWith(trans.__('[image not shown: %1]', path))
      );
    },
    [read, trans]
  );
}

function urlOf(content: Blob): string {
  return URL.createObjectURL(content);
}

// What reaches beyond the formula: links, styles and names of elements, what stays defined for the mathematics of the
// page, other packages.
const REACHES_OUT =
  /\\(?:href|url|class|cssId|style|data|html\w*|bbox|unicode|require|includegraphics|let|futurelet|[gex]?def|(?:re)?new(?:command|environment)|providecommand|newcolumntype|definecolor|Declare\w+|mmlToken|label)(?![a-z])/i;

const MOST_CHARACTERS = 4000;

/** Whether a formula may be typeset: it is not long, and does nothing but show itself. */
export function isHarmless(tex: string): boolean {
  return tex.length <= MOST_CHARACTERS && !REACHES_OUT.test(tex);
}

/** Typesets the formula that is an element's text. */
function useMathematics(): (element: HTMLElement, display: boolean) => void {
  const { typeset } = useHost();
  return React.useCallback(
    (element, display) => {
      const tex = element.textContent;
      if (isHarmless(tex)) {
        void typeset(element, tex, display);
      }
    },
    [typeset]
  );
}
