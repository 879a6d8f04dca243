/** What the browser remembers over a reload. Used by the plugins that restore what was open. */

import { PageConfig } from '@jupyterlab/coreutils';

import type { IStateStorage } from '../model/conversations/persistedState';
import { EXTENSION_ID } from '../tokens';

/**
 * Keeps a text for a server and a workspace of the lab. Each tab of a browser has its own, as Notebook opens one for
 * each document; a new tab begins with what was written last in any.
 */
export function browserStorage(
  baseUrl: string,
  ...what: string[]
): IStateStorage {
  const name = [
    EXTENSION_ID,
    baseUrl,
    PageConfig.getOption('workspace'),
    ...what
  ].join(':');
  return {
    read: () => sessionStorage.getItem(name) ?? localStorage.getItem(name),
    write: text => {
      try {
        sessionStorage.setItem(name, text);
        localStorage.setItem(name, text);
      } catch (error) {
        console.warn('What is open will not survive a reload:', error);
      }
    }
  };
}
