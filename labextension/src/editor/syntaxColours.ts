/** The syntax colours of text that is not in an editor yet, as that editor would show it. Used by `proposalView`. */

import { highlightingFor, language } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import { highlightTree } from '@lezer/highlight';

/** More is shown plain: it is coloured again with every word that is streamed. */
const LONGEST = 20_000;

/** A piece of a text and the CSS classes of its colour. */
export interface IColoured {
  readonly from: number;
  readonly to: number;
  readonly classes: string;
}

/** The coloured pieces of a text in the language of an editor, in order; none where it has no language. */
export function coloursOf(
  text: string,
  state: EditorState
): readonly IColoured[] {
  const spoken = state.facet(language);
  const pieces: IColoured[] = [];
  if (spoken !== null && text.length <= LONGEST) {
    highlightTree(
      spoken.parser.parse(text),
      { style: tags => highlightingFor(state, tags) },
      (from, to, classes) => pieces.push({ from, to, classes })
    );
  }
  return pieces;
}
