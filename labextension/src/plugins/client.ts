/** The client plugin: the way from this page to the server half. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';

import { HttpClient } from '../client/http';
import { PageSocket } from '../client/socket';
import { onWake } from '../client/wake';
import { EXTENSION_ID, IShouldersClient } from '../tokens';

const API = 'shoulders/api/v1';

/** Provides the client; its socket connects when the page has loaded. */
export const client: JupyterFrontEndPlugin<IShouldersClient> = {
  id: `${EXTENSION_ID}:client`,
  description: 'Requests to the server half and the socket of this page.',
  autoStart: true,
  provides: IShouldersClient,
  activate: ({ serviceManager }: JupyterFrontEnd): IShouldersClient => {
    const settings = serviceManager.serverSettings;
    const socket = new PageSocket({
      clientId: UUID.uuid4(),
      connect: () => new settings.WebSocket(socketUrl(settings))
    });
    const http = new HttpClient((path, init) =>
      ServerConnection.makeRequest(
        URLExt.join(settings.baseUrl, API, path),
        init,
        settings
      )
    );
    window.addEventListener('online', () => socket.renew());
    onWake(() => socket.renew());
    socket.reconnect();
    return { http, socket };
  }
};

function socketUrl(settings: ServerConnection.ISettings): string {
  const url = URLExt.join(settings.wsUrl, API, 'socket');
  return settings.appendToken && settings.token !== ''
    ? `${url}?token=${encodeURIComponent(settings.token)}`
    : url;
}
