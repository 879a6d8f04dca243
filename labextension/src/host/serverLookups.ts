/** The chat's requests to the server; used by the hosts of the panel and of the widget. */

import type { IServerLookups } from './inputHost';
import type { SavedProvider } from '../wire/generated';
import type { IHttpClient } from '../client/http';

/** Make the lookups over HTTP. */
export function createServerLookups(http: IHttpClient): IServerLookups {
  const words = (name: string, value: string): string =>
    new URLSearchParams({ [name]: value }).toString();
  const session = (id: string): string => `sessions/${encodeURIComponent(id)}`;
  return {
    files: query => http.call('GET', `files/search?${words('q', query)}`),
    variables: path => http.call('GET', `variables?${words('path', path)}`),
    skills: () => http.call('GET', 'skills'),
    mcpResources: query =>
      http.call('GET', `mcp/resources?${words('query', query)}`),
    mcpPrompts: () => http.call('GET', 'mcp/prompts'),
    mcpPrompt: (server, name, values) =>
      http.call(
        'POST',
        `mcp/prompts/${encodeURIComponent(server)}/${encodeURIComponent(name)}`,
        { arguments: values }
      ),
    tools: () => http.call('GET', 'tools'),
    agents: () => http.call('GET', 'agents'),
    undoOperation: id =>
      http.call('POST', `operations/${encodeURIComponent(id)}/undo`),
    addReference: doi => http.call('POST', 'references', { doi }),
    preview: (id, message) =>
      http.call('POST', `${session(id)}/preview`, message),
    sent: (id, turn, step) =>
      http.call('GET', `${session(id)}/requests/${step}?${words('turn', turn)}`)
  };
}

/** Test a provider's key and store it unless it is refused; `untested`: store it without a test. */
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
