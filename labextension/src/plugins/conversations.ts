/** The conversations plugin: the conversations known to this page. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { UUID } from '@lumino/coreutils';

import { Conversations } from '../model/conversations/conversations';
import { EXTENSION_ID, IConversations, IShouldersClient } from '../tokens';
import { browserStorage } from '../lab/browserStorage';

/** Provides the conversations; sends no request before one is shown. */
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
      storage: browserStorage(app.serviceManager.serverSettings.baseUrl),
      newId: () => UUID.uuid4()
    })
};
