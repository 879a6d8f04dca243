/** Command ids of references; a public interface. */

import { EXTENSION_ID } from '../tokens';

export const REFERENCE_COMMANDS = {
  open: `${EXTENSION_ID}:open-references`,
  addFile: `${EXTENSION_ID}:add-file-to-references`,
  insertBibliography: `${EXTENSION_ID}:insert-bibliography`
} as const;

/** The type of the citation that a drag from the panel carries. */
export const CITATION_MIME = 'application/x-shoulders-citation';
