/** What the page answers when it cannot do what the server asks of a notebook; used by `NotebookBridge`. */

import type {
  DocumentApply,
  DocumentRead,
  DocumentRefused
} from '../wire/generated';
import type { NotebookAnnouncer } from './notebookAnnouncer';

const REASONS: Record<DocumentRefused['reason'], string> = {
  epoch: 'The request was made before the page announced the notebook again.',
  deadline: 'The request reached the page too late.',
  not_open: 'The notebook is not open in this page.',
  read_only: 'The notebook is read-only.',
  failed: 'The page could not do it.'
};

/** The answer to an operation that is not done. */
export function refused(
  operation_id: string,
  reason: DocumentRefused['reason'],
  path: string
): DocumentRefused {
  return {
    type: 'document-refused',
    operation_id,
    reason,
    message: `${REASONS[reason]} (${path})`
  };
}

/** Why an operation on a notebook is refused; null when it is not. */
export function refusalOf(
  item: NotebookAnnouncer | null,
  frame: DocumentApply | DocumentRead
): DocumentRefused | null {
  if (item === null) {
    return refused(frame.operation_id, 'not_open', frame.path);
  }
  return item.epoch === frame.claim_epoch
    ? null
    : refused(frame.operation_id, 'epoch', frame.path);
}
