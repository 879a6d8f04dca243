/** The selection in a Word page, as messages and threads need it. Pure but for reading the page. */

import type { Attachment, Selection } from '../wire/generated';
import type { IWordPage } from './wordPages';

/** Characters of context sent on either side of a selection. */
const AROUND = 200;

/** The selection of a page as the context of a message; null without one. */
export function selectionOf({ selection, text }: IWordPage): Selection | null {
  return (
    selection && {
      cell_id: null,
      range: selection,
      text: shown(text.slice(selection.from, selection.to))
    }
  );
}

/** The selection of a page as an attachment; null without one. */
export function selectionAttachment(page: IWordPage): Attachment | null {
  const { selection, text, path } = page;
  if (selection === null) {
    return null;
  }
  const { from, to } = selection;
  return {
    kind: 'selection',
    path,
    cell_id: null,
    range: { from, to },
    text: shown(text.slice(from, to)),
    before: shown(text.slice(Math.max(0, from - AROUND), from)),
    after: shown(text.slice(to, to + AROUND))
  };
}

/** With line breaks inside of paragraphs as the reader knows them. */
function shown(text: string): string {
  return text.replace(/\u2028/g, '\n');
}
