/** The settings plugin: the command that opens the AI settings, and their restoration after a reload. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { ReadonlyJSONObject } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

import {
  EXTENSION_ID,
  IConversations,
  IFolderTrust,
  IShouldersClient,
  TRANSLATION_DOMAIN
} from '../tokens';
import type { SettingsPageOpener } from './settingsWidget';

const ID = `${EXTENSION_ID}:settings`;

/** Namespace of the page's state; JupyterLab finds none with a colon. */
const NAMESPACE = `${EXTENSION_ID}-settings`;

/** Command id; a public interface. */
const OPEN = `${EXTENSION_ID}:open-settings`;

/** Command id; a public interface. */
const REVIEW = `${EXTENSION_ID}:review-folder`;

const ARGUMENTS: ReadonlyJSONObject = {
  type: 'object',
  properties: {
    section: {
      type: 'string',
      description: 'The part to show: providers, models, tools, rules, budget …'
    },
    add: {
      type: 'boolean',
      description: 'Whether to open the form for a new provider'
    }
  }
};

/** Opens the settings page. */
export const settings: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'The page of the AI settings.',
  autoStart: true,
  requires: [IShouldersClient, IConversations, IFolderTrust, IDocumentManager],
  optional: [ILabShell, ILayoutRestorer, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    folderTrust: IFolderTrust,
    documents: IDocumentManager,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const tracker = new WidgetTracker<Widget>({ namespace: NAMESPACE });
    let opener: SettingsPageOpener | null = null;
    const load = async (): Promise<SettingsPageOpener> => {
      const { SettingsPageOpener } = await import('./settingsWidget');
      opener ??= new SettingsPageOpener({
        app,
        client,
        conversations,
        folderTrust,
        documents,
        tracker,
        trans,
        // Notebook has no tabs beside the document.
        area: labShell === null ? 'left' : 'main'
      });
      return opener;
    };
    app.commands.addCommand(OPEN, {
      label: trans.__('AI Settings'),
      describedBy: { args: ARGUMENTS },
      execute: async args =>
        (await load()).show(args.section, args.add === true)
    });
    app.commands.addCommand(REVIEW, {
      label: trans.__('Review This Folder’s AI Settings'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: async () => (await load()).read('folder')
    });
    for (const command of [OPEN, REVIEW]) {
      palette?.addItem({ command, category: trans.__('AI') });
    }
    void restorer?.restore(tracker, {
      command: OPEN,
      args: () => ({ section: opener?.section ?? null }),
      name: () => 'settings'
    });
  }
};
