/** The conversations plugin: what this page knows of the conversations with the agent. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { PageConfig } from '@jupyterlab/coreutils';
import { UUID } from '@lumino/coreutils';

import { Conversations } from '../model/conversations';
import type { IKeeper } from '../model/memory';
import { EXTENSION_ID, IConversations, IShouldersClient } from '../tokens';

/** Provides the conversations; nothing is asked of the server before something is shown. */
export const conversations: JupyterFrontEndPlugin<IConversations> = {
  id: `${EXTENSION_ID}:conversations`,
  description: 'The conversations with the agent that are open in this page.',
  autoStart: true,
  requires: [IShouldersClient],
  provides: IConversations,
  activate: (app: JupyterFrontEnd, client: IShouldersClient): IConversations =>
    new Conversations({
      http: client.http,
      socket: client.socket,
      keeper: browserKeeper(app.serviceManager.serverSettings.baseUrl),
      newId: () => UUID.uuid4()
    })
};

/** Local storage, apart for each server and workspace; two tabs of a browser have a workspace each. */
function browserKeeper(baseUrl: string): IKeeper {
  const name = [EXTENSION_ID, baseUrl, PageConfig.getOption('workspace')].join(
    ':'
  );
  return {
    read: () => localStorage.getItem(name),
    write: text => {
      try {
        localStorage.setItem(name, text);
      } catch (error) {
        console.warn('Open conversations will not survive a reload:', error);
      }
    }
  };
}
