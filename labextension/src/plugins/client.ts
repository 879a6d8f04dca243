/** The client plugin: HTTP and socket connections to the server extension. */

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
    const clientId = UUID.uuid4();
    const socket = new PageSocket({
      clientId,
      connect: () => new settings.WebSocket(socketUrl(settings))
    });
    const http = new HttpClient((path, init) =>
      ServerConnection.makeRequest(
        URLExt.join(settings.baseUrl, API, path),
        { ...init, headers: withPage(init.headers, clientId) },
        settings
      )
    );
    window.addEventListener('online', () => socket.renew());
    onWake(() => socket.renew());
    socket.reconnect();
    return { http, socket };
  }
};

/** Name the requesting page: documents open in several pages are changed there. */
function withPage(given: HeadersInit | undefined, clientId: string): Headers {
  const headers = new Headers(given);
  headers.set('X-Shoulders-Page', clientId);
  return headers;
}

function socketUrl(settings: ServerConnection.ISettings): string {
  const url = URLExt.join(settings.wsUrl, API, 'socket');
  return settings.appendToken && settings.token !== ''
    ? `${url}?token=${encodeURIComponent(settings.token)}`
    : url;
}
