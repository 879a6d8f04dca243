/** The webhook of notifications as the settings page knows it, and its routes. Part of `SettingsStore`. */

import type { IHttpClient } from '../../client/http';
import { Resource } from '../../client/resource';
import type { WebhookStatus } from '../../wire/generated';

/** Each method rejects with an `ApiError`. */
export interface INotificationsApi {
  webhook(): Promise<WebhookStatus>;
  /** Store the secret that signs what is sent; null removes it. */
  setSecret(secret: string | null): Promise<WebhookStatus>;
  /** Notify of nothing, everywhere. */
  test(): Promise<WebhookStatus>;
}

/** The routes over HTTP. */
export function notificationsApi(
  http: Pick<IHttpClient, 'call'>
): INotificationsApi {
  return {
    webhook: () => http.call('GET', 'notifications/webhook'),
    setSecret: secret => http.call('PUT', 'notifications/secret', { secret }),
    test: () => http.call('POST', 'notifications/test', {})
  };
}

export class NotificationsStore {
  constructor(private readonly api: INotificationsApi) {
    this.webhook = new Resource(() => api.webhook());
  }

  readonly webhook: Resource<WebhookStatus>;

  async setSecret(secret: string | null): Promise<void> {
    this.webhook.set(await this.api.setSecret(secret));
  }

  async test(): Promise<void> {
    this.webhook.set(await this.api.test());
  }
}
