/** Command ids of suggestions; a public interface. Used by the inline completion plugin. */

import { EXTENSION_ID } from '../tokens';

/** All but `ask` act on a suggestion that is shown. */
export const INLINE_COMPLETION_COMMANDS = {
  ask: `${EXTENSION_ID}:suggest`,
  accept: `${EXTENSION_ID}:accept-suggestion`,
  acceptWord: `${EXTENSION_ID}:accept-word-of-suggestion`,
  next: `${EXTENSION_ID}:next-suggestion`,
  previous: `${EXTENSION_ID}:previous-suggestion`,
  dismiss: `${EXTENSION_ID}:dismiss-suggestion`
} as const;
