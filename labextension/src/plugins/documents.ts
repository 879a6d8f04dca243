/** The documents plugin: lets the server read and change the notebooks open in this page. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';

import { DocumentBridge } from '../bridge/documents';
import { EXTENSION_ID, IShouldersClient } from '../tokens';

/** Announces open notebooks and applies the agent's edits to them. */
export const documents: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:documents`,
  description: 'Lets the agent work in the notebooks open in this page.',
  autoStart: true,
  requires: [IShouldersClient, INotebookTracker],
  activate: (
    _app: JupyterFrontEnd,
    client: IShouldersClient,
    tracker: INotebookTracker
  ): void => {
    // Lives as long as the page.
    new DocumentBridge(client.socket, tracker);
  }
};
