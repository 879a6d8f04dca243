/** Command ids of search; a public interface. */

import { EXTENSION_ID } from '../tokens';

export const SEARCH_COMMANDS = {
  open: `${EXTENSION_ID}:search-workspace`
} as const;
