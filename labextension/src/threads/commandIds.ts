/** Command ids of task threads; a public interface. Used by the threads plugin and the code it loads. */

import { EXTENSION_ID } from '../tokens';

export const THREAD_COMMANDS = {
  start: `${EXTENSION_ID}:start-thread`,
  startOutput: `${EXTENSION_ID}:start-output-thread`,
  open: `${EXTENSION_ID}:open-thread`,
  cell: `${EXTENSION_ID}:cell-threads`,
  next: `${EXTENSION_ID}:next-thread`,
  previous: `${EXTENSION_ID}:previous-thread`
} as const;

/** Name of the cell toolbar item in the plugin's schema. */
export const THREADS_ITEM = 'shoulders-threads';
