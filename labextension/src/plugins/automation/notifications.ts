/** The notifications plugin: shows what the server has for the person. What shows it is loaded when there is something. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import {
  EXTENSION_ID,
  IConversations,
  IShouldersClient,
  TRANSLATION_DOMAIN
} from '../../tokens';
import type { NotificationList } from '../../wire/generated';

/** Shows notifications in the lab's centre, and in the browser while the page is hidden. */
export const notifications: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:notifications`,
  description: 'Shows notifications about runs and questions.',
  autoStart: true,
  requires: [IShouldersClient, IConversations],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    translator: ITranslator | null
  ): void => {
    const { http, socket } = client;
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const shown = new Set<string>();
    const look = async (): Promise<void> => {
      const list = await http.call<NotificationList>('GET', 'notifications');
      const fresh = list.notifications.filter(
        ({ id, seen }) => !seen && !shown.has(id)
      );
      if (fresh.length === 0) {
        return;
      }
      fresh.forEach(({ id }) => shown.add(id));
      const { showNotifications } =
        await import('../../lab/notificationCentre');
      await showNotifications(fresh, { app, http, conversations, trans });
    };
    const lookAgain = (): void => {
      look().catch((error: unknown) =>
        console.warn('Notifications cannot be read:', error)
      );
    };
    socket.opened.connect(lookAgain);
    socket.frameReceived.connect((_, frame) => {
      if (frame.type === 'settings-update' && frame.part === 'notifications') {
        lookAgain();
      }
    });
  }
};
