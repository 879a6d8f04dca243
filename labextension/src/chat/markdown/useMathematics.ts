/** Formulas by the lab's own typesetter; until it has them, and where it may not, they stand as they were written. */

import * as React from 'react';

import { useHost } from '../../ui/hooks';

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
export function useMathematics(): (
  element: HTMLElement,
  display: boolean
) => void {
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
