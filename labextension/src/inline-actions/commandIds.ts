/** Command ids of inline actions; a public interface. */

import { EXTENSION_ID } from '../tokens';

export const INLINE_ACTION_COMMANDS = {
  explain: `${EXTENSION_ID}:explain-cell`,
  edit: `${EXTENSION_ID}:edit-with-ai`,
  generate: `${EXTENSION_ID}:write-cell-below`,
  fix: `${EXTENSION_ID}:fix-error`,
  askOutput: `${EXTENSION_ID}:ask-about-output`,
  askSelection: `${EXTENSION_ID}:ask-about-selection`,
  openMenu: `${EXTENSION_ID}:open-cell-menu`
} as const;
