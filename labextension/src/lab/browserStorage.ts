/** State kept by the browser over a reload. Used by the plugins that restore it. */

import { PageConfig } from '@jupyterlab/coreutils';

import type { IStateStorage } from '../model/conversations/persistedState';
import { EXTENSION_ID } from '../tokens';

/**
 * Stores a text for a server and a JupyterLab workspace. Each browser tab has its own, because Notebook opens one for
 * each document; a new tab starts with the value written last in any.
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
