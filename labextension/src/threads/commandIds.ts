/** Ids of the commands of task threads; part of the contract. Used by the threads plugin and what it loads. */

import { EXTENSION_ID } from '../tokens';

/** Command ids. */
export const THREAD_COMMANDS = {
  start: `${EXTENSION_ID}:start-thread`,
  startOutput: `${EXTENSION_ID}:start-output-thread`,
  open: `${EXTENSION_ID}:open-thread`,
  cell: `${EXTENSION_ID}:cell-threads`,
  next: `${EXTENSION_ID}:next-thread`,
  previous: `${EXTENSION_ID}:previous-thread`
} as const;

/** Name of the item in the toolbar of a cell, in the plugin's schema. */
export const THREADS_ITEM = 'shoulders-threads';
