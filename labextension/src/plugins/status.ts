/**
 * The status plugin: model, running turns and the month's cost in the status bar; loaded after JupyterLab's start-up.
 */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import {
  EXTENSION_ID,
  IConversations,
  IShouldersClient,
  TRANSLATION_DOMAIN
} from '../tokens';

const ID = `${EXTENSION_ID}:status`;

/** Adds the item if there is a status bar. */
export const status: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Model, running turns and cost in the status bar.',
  autoStart: true,
  requires: [IShouldersClient, IConversations],
  optional: [IStatusBar, ISettingRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    bar: IStatusBar | null,
    registry: ISettingRegistry | null,
    translator: ITranslator | null
  ): void => {
    if (bar === null) {
      return; // Notebook may have no status bar.
    }
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const load = async (): Promise<void> => {
      await app.restored;
      const { addStatusItem } = await import('./statusItem');
      const settings = await registry?.load(ID);
      const open = (): void =>
        void app.commands.execute(`${EXTENSION_ID}:open-settings`, {
          section: 'usage'
        });
      addStatusItem({ bar, client, conversations, trans, open }, settings);
    };
    load().catch((error: unknown) =>
      console.error('The AI item of the status bar could not be loaded:', error)
    );
  }
};
