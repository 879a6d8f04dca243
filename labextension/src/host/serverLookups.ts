/** What the chat's input looks up at the server; made by the page around the panel, the lab's or a widget's. */

import type { IServerLookups } from './inputHost';
import type { SavedProvider } from '../wire/generated';
import type { IHttpClient } from '../client/http';

/** The lookups over HTTP. */
export function createServerLookups(http: IHttpClient): IServerLookups {
  const words = (name: string, value: string): string =>
    new URLSearchParams({ [name]: value }).toString();
  const session = (id: string): string => `sessions/${encodeURIComponent(id)}`;
  return {
    files: query => http.call('GET', `files/search?${words('q', query)}`),
    variables: path => http.call('GET', `variables?${words('path', path)}`),
    skills: () => http.call('GET', 'skills'),
    tools: () => http.call('GET', 'tools'),
    preview: (id, message) =>
      http.call('POST', `${session(id)}/preview`, message),
    sent: (id, turn, step) =>
      http.call('GET', `${session(id)}/requests/${step}?${words('turn', turn)}`)
  };
}

/** Try a provider's key and store it unless it is refused; `untested`: store it as it is. */
export async function storeProviderKey(
  http: IHttpClient,
  provider: string,
  key: string,
  untested: boolean
): Promise<SavedProvider> {
  if (untested) {
    await http.setKey(provider, key);
    return { stored: true, provider: null, test: null };
  }
  const path = `providers/${encodeURIComponent(provider)}/key`;
  return http.call('POST', path, { key });
}
