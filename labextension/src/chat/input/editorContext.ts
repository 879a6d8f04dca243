/** Editor context of a message: pure rules. Used by the input. */

import type { IEditorContext } from '../../host/chatHost';
import type { MessageContext } from '../../wire/generated';

/** The removable pieces. */
export type ContextPiece = 'document' | 'cell' | 'selection' | 'open';

/** The removed pieces. */
export type RemovedPieces = ReadonlySet<ContextPiece>;

/** The context without the removed pieces; null if nothing is left. */
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
