/** The folder trust plugin: the folder's own settings and the user's decisions about them. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

import { EXTENSION_ID, IFolderTrust, IShouldersClient } from '../tokens';
import { FolderTrustStore } from '../trust/store';

/** Provides the store; sends no request before a view shows it. */
export const folderTrust: JupyterFrontEndPlugin<IFolderTrust> = {
  id: `${EXTENSION_ID}:folder-trust`,
  description: 'The AI settings that the folder brings along.',
  autoStart: true,
  requires: [IShouldersClient],
  provides: IFolderTrust,
  activate: (_: JupyterFrontEnd, client: IShouldersClient): IFolderTrust => {
    const { http, socket } = client;
    // Lives as long as the page.
    const store = new FolderTrustStore(
      {
        trust: () => http.call('GET', 'trust'),
        putTrust: body => http.call('PUT', 'trust', body)
      },
      socket
    );
    window.addEventListener('focus', store.onFocus);
    return store;
  }
};
