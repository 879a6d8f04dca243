/** The routes of access tokens, in memory. */

import type { IAccessTokensApi } from '../store/accessTokens';
import type {
  AccessTokenList,
  CreatedAccessToken,
  PostAccessToken
} from '../../wire/generated';

export class FakeAccessTokens implements IAccessTokensApi {
  list: AccessTokenList = {
    enabled: true,
    install: null,
    url_path: '/user/ada/shoulders/mcp',
    tokens: []
  };

  async tokens(): Promise<AccessTokenList> {
    return this.list;
  }
  async create({ name, scopes }: PostAccessToken): Promise<CreatedAccessToken> {
    const id = `t${this.list.tokens.length + 1}`;
    const created_at = '2026-11-29T05:00:00Z';
    const token = { id, name, scopes, created_at, last_used_at: null };
    this.list = { ...this.list, tokens: [...this.list.tokens, token] };
    return { token, secret: `secret-${id}` };
  }
  async revoke(id: string): Promise<void> {
    const tokens = this.list.tokens.filter(each => each.id !== id);
    this.list = { ...this.list, tokens };
  }
}
