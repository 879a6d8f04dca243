/** Tokens of programs that use our MCP server, and their routes. The store is part of `SettingsStore`. */

import type { IHttpClient } from '../../client/http';
import { Resource } from '../../client/resource';
import type {
  AccessTokenList,
  CreatedAccessToken,
  PostAccessToken
} from '../../wire/generated';

/** Each method rejects with an `ApiError`. */
export interface IAccessTokensApi {
  tokens(): Promise<AccessTokenList>;
  /** Make a token; its secret is in this answer only. */
  create(body: PostAccessToken): Promise<CreatedAccessToken>;
  revoke(id: string): Promise<void>;
}

/** The routes over HTTP. */
export function accessTokensApi(
  http: Pick<IHttpClient, 'call'>
): IAccessTokensApi {
  return {
    tokens: () => http.call('GET', 'access-tokens'),
    create: body => http.call('POST', 'access-tokens', body),
    revoke: id => http.call('DELETE', `access-tokens/${encodeURIComponent(id)}`)
  };
}

export class AccessTokensStore {
  constructor(private readonly api: IAccessTokensApi) {
    this.list = new Resource(() => api.tokens());
  }

  readonly list: Resource<AccessTokenList>;

  async create(body: PostAccessToken): Promise<CreatedAccessToken> {
    const made = await this.api.create(body);
    await this.list.load();
    return made;
  }

  async revoke(id: string): Promise<void> {
    await this.api.revoke(id);
    await this.list.load();
  }
}
