/** Shows notifications in JupyterLab's centre and in the browser. Loaded by the notifications plugin. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification as LabNotification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IHttpClient } from '../client/http';
import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import { EXTENSION_ID, type IConversations } from '../tokens';
import type { Settings, StoredNotification } from '../wire/generated';

/** How long a notification without a problem stays, in ms. */
const SHORT = 10_000;

interface IParts {
  readonly app: JupyterFrontEnd;
  readonly http: IHttpClient;
  readonly conversations: IConversations;
  readonly trans: TranslationBundle;
}

/** Show them and tell the server, the oldest first. */
export async function showNotifications(
  latestFirst: readonly StoredNotification[],
  parts: IParts
): Promise<void> {
  const all = latestFirst.slice().reverse();
  for (const notification of all) {
    if (notification.kind !== 'waiting' || !isPanelVisible()) {
      showInLab(notification, parts);
    }
  }
  if (document.hidden) {
    await showInBrowser(all, parts);
  }
  await pageVisible();
  const ids = all.map(({ id }) => id);
  await parts.http.call('POST', 'notifications/seen', { ids });
}

/** Until the person looks at the page: what no visible page has shown stays unread. */
async function pageVisible(): Promise<void> {
  while (document.hidden) {
    await new Promise(resolve =>
      document.addEventListener('visibilitychange', resolve, { once: true })
    );
  }
}

/** Whether the person sees the chat panel, which points to every conversation that waits. */
function isPanelVisible(): boolean {
  const panel = document.querySelector('.shoulders-ChatWidget');
  return (
    !document.hidden && panel !== null && panel.getClientRects().length > 0
  );
}

function showInLab(
  notification: StoredNotification,
  { app, conversations, trans }: IParts
): void {
  const { level, session_id, schedule_id } = notification;
  const text = [notification.title, notification.message]
    .filter(part => part !== '')
    .map(part => visible(serverText(trans, part)))
    .join('\n');
  const run = (command: string): void => {
    void app.commands.execute(`${EXTENSION_ID}:${command}`);
  };
  const actions: LabNotification.IAction[] = [
    ...(session_id === null
      ? []
      : [
          {
            label: trans.__('Show conversation'),
            callback: () => {
              conversations.open(session_id);
              run('focus-chat');
            }
          }
        ]),
    ...(schedule_id === null
      ? []
      : [
          {
            label: trans.__('Schedules'),
            callback: () => run('open-schedules')
          }
        ])
  ];
  LabNotification.emit(text, level, {
    actions,
    autoClose: level === 'info' && !document.hidden ? SHORT : false
  });
}

/** Show them outside the page, where the person allowed it in the settings. */
async function showInBrowser(
  all: readonly StoredNotification[],
  { http, conversations, app, trans }: IParts
): Promise<void> {
  if (!('Notification' in window) || Notification.permission !== 'granted') {
    return;
  }
  const { values } = await http.call<Settings>('GET', 'settings');
  if (!values.notifications.browser) {
    return;
  }
  for (const { id, title, message, session_id } of all) {
    const made = new Notification(visible(serverText(trans, title)), {
      body: visible(serverText(trans, message)),
      tag: id // Two tabs show it once.
    });
    made.onclick = () => {
      window.focus();
      if (session_id !== null) {
        conversations.open(session_id);
        void app.commands.execute(`${EXTENSION_ID}:focus-chat`);
      }
    };
  }
}
