/** What the chat's input looks up at the server; made by the page around the panel, the lab's or a widget's. */

import type { ILookups } from '../chat/host-input';
import { ApiError, type IHttpClient } from './http';

/** The lookups over HTTP. */
export function lookupsOver(http: IHttpClient): ILookups {
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

/** Store a provider's key and try it; the words of a failed try are thrown. */
export async function storeKey(
  http: IHttpClient,
  provider: string,
  key: string
): Promise<void> {
  await http.setKey(provider, key);
  const { ok, error } = await http.testProvider(provider);
  if (!ok && error !== null) {
    throw new ApiError(0, error);
  }
}
