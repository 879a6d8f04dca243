/** The plugin of the agent's database: the command that opens it, and its restoration after a reload. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import { EXTENSION_ID, IShouldersClient, TRANSLATION_DOMAIN } from '../tokens';
import { OPEN_DATABASE } from './commandIds';

/** Opens the agent's database. */
export const agentDatabase: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:agent-database`,
  description: 'The agent’s database as tables.',
  autoStart: true,
  requires: [IShouldersClient],
  optional: [ILayoutRestorer, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const tracker = new WidgetTracker<Widget>({
      namespace: `${EXTENSION_ID}-agent-database`
    });
    app.commands.addCommand(OPEN_DATABASE, {
      label: trans.__('Open the Agent’s Database'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: async () => {
        const { makeDatabaseWidget, WIDGET_ID } =
          await import('./databaseWidget');
        if (tracker.currentWidget === null) {
          const made = makeDatabaseWidget(client.http, trans);
          app.shell.add(made, 'main', { type: 'Agent’s database' });
          void tracker.add(made);
        }
        app.shell.activateById(WIDGET_ID);
      }
    });
    palette?.addItem({ command: OPEN_DATABASE, category: trans.__('AI') });
    void restorer?.restore(tracker, {
      command: OPEN_DATABASE,
      name: () => 'agent-database'
    });
  }
};
