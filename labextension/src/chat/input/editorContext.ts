/** What of the user's page goes with a message: pure rules. Used by the input. */

import type { IEditorContext } from '../../host/chatHost';
import type { MessageContext } from '../../wire/generated';

/** What can be left out. */
export type ContextPiece = 'document' | 'cell' | 'selection' | 'open';

/** What was left out. */
export type RemovedPieces = ReadonlySet<ContextPiece>;

/** The context of a message without the pieces the user removed; null when nothing is left. */
export function messageContextOf(
  { document, cell, selection, openDocuments }: IEditorContext,
  left: RemovedPieces
): MessageContext | null {
  const gone = left.has('document') ? document : null;
  const active = gone === null ? document : null;
  const open = openDocuments.filter(
    path => path === active || (path !== gone && !left.has('open'))
  );
  const keeps = (piece: ContextPiece): boolean =>
    active !== null && !left.has(piece);
  return active === null && open.length === 0
    ? null
    : {
        active_document: active,
        active_cell_id: keeps('cell') && cell !== null ? cell.id : null,
        selection: keeps('selection') ? selection : null,
        open_documents: open
      };
}
