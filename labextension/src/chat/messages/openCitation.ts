/** Opens a cited place through the host. Used by `useCitations`. */

import type { IMessageHost } from '../../host/messageHost';
import type { IOpenDocumentTexts } from '../../host/threadsHost';
import type { ICitation } from '../../text/citations';

/** Longest wait for a notebook to open, in ms. */
const OPENING_TIME = 30_000;

/** Open and highlight a place. Resolves to false if its cell is not in the notebook, which is open then. */
export async function openCitation(
  { path, cellId, line }: ICitation,
  openTarget: NonNullable<IMessageHost['openTarget']>,
  texts: IOpenDocumentTexts | null
): Promise<boolean> {
  const lines = line === null ? null : { first: line, last: line };
  openTarget({ path, cellId, lines });
  return (
    texts === null ||
    cellId === null ||
    (await textOfCell(texts, path, cellId)) !== null
  );
}

/** The text of a cell once its notebook is open; null for a missing cell, undefined if the notebook does not open. */
function textOfCell(
  texts: IOpenDocumentTexts,
  path: string,
  cellId: string
): Promise<string | null | undefined> {
  return new Promise(resolve => {
    const settle = (): void => {
      texts.changed.disconnect(onChange);
      clearTimeout(timer);
      resolve(texts.textOf(path, cellId));
    };
    const onChange = (): void => {
      if (texts.textOf(path, cellId) !== undefined) {
        settle();
      }
    };
    const timer = setTimeout(settle, OPENING_TIME);
    texts.changed.connect(onChange);
    onChange();
  });
}
