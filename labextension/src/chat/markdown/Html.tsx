/** Markdown rendered as sanitised HTML: everything except lists, quotes, tables and code. Used by `Markdown`. */

import type { Token } from 'marked';
import * as React from 'react';

import { DISPLAY, MATH, toHtml } from './grammar';
import { sanitise } from './sanitise';
import { useCitationChips } from './useCitationChips';
import { useReferenceLinks } from './useReferenceLinks';
import { useHost, useTrans } from '../../ui/hooks';

/** A block of text. */
export function Html({ token }: { token: Token }): React.JSX.Element {
  const { ref, chips } = useSanitised<HTMLDivElement>(toHtml(token));
  return (
    <>
      <div className="shoulders-Markdown-block" ref={ref} />
      {chips}
    </>
  );
}

/** An element filled with HTML. */
interface ISanitised<T> {
  readonly ref: React.RefObject<T>;
  /** Its citations, to be rendered beside it; they appear within. */
  readonly chips: React.ReactNode;
}

/** Fills an element with sanitised HTML; unchanged HTML leaves it alone. */
export function useSanitised<T extends HTMLElement>(
  html: string
): ISanitised<T> {
  const ref = React.useRef<T>(null);
  const typeset = useMathematics();
  const show = useImages();
  const link = useReferenceLinks();
  const { chips, cite } = useCitationChips();
  React.useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) {
      return;
    }
    element.replaceChildren(sanitise(html));
    cite(element); // Before links, which markers must not contain.
    link(element);
    for (const formula of element.querySelectorAll<HTMLElement>(`.${MATH}`)) {
      typeset(formula, formula.className === DISPLAY);
    }
    for (const picture of element.querySelectorAll('img')) {
      show(picture);
    }
  }, [html, typeset, show, link, cite]);
  return { ref, chips };
}

/** Loads an `img` of the sanitiser; one without `src` has a workspace path as its title. */
function useImages(): (picture: HTMLImageElement) => void {
  const { readImage: read } = useHost();
  const trans = useTrans();
  const known = React.useRef(new Map<string, Promise<string>>());
  React.useEffect(() => {
    const { current: urls } = known;
    return () => {
      urls.forEach(
        url =>
          void url.then(
            made => URL.revokeObjectURL(made),
            () => undefined // There was no image.
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

// TeX commands with effects outside the formula: links, styles, element ids, global definitions, packages.
const SIDE_EFFECTS =
  /\\(?:href|url|class|cssId|style|data|html\w*|bbox|unicode|require|includegraphics|let|futurelet|[gex]?def|(?:re)?new(?:command|environment)|providecommand|newcolumntype|definecolor|Declare\w+|mmlToken|label)(?![a-z])/i;

const MOST_CHARACTERS = 4000;

/** Whether a formula may be typeset: it is short and has no effects outside itself. */
export function isHarmless(tex: string): boolean {
  return tex.length <= MOST_CHARACTERS && !SIDE_EFFECTS.test(tex);
}

/** Typesets the formula in an element's text. */
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
