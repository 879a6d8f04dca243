/** The lines of a text that an edit changed. Pure; used by the follower of the page. */

import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

import type { IRange } from './flash';

/** More are marked as a whole. */
const MOST = 50;

/** The ranges of `text` that `edit` changed; none where the text has not what it wrote. */
export function changedLines(
  edit: { readonly before: string; readonly after: string },
  text: string
): IRange[] {
  const after = Text.of(edit.after.split('\n'));
  const chunks = Chunk.build(Text.of(edit.before.split('\n')), after);
  if (chunks.length > MOST) {
    return [];
  }
  return chunks.flatMap(({ fromB, toB }) => {
    const from = Math.min(fromB, after.length);
    const to = Math.max(from, Math.min(toB, after.length + 1) - 1);
    const written = after.sliceString(from, to);
    if (edit.after === text) {
      return [{ from, to }];
    }
    // Others have written since.
    const found = written.trim() === '' ? -1 : text.indexOf(written);
    return found < 0 ? [] : [{ from: found, to: found + written.length }];
  });
}
