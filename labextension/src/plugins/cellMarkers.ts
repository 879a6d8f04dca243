/** The cells plugin: marks beside cells, and run policies. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import {
  policyOf,
  withPolicy,
  type RunPolicy
} from '../live-documents/notebooks/runPolicy';
import { CellMarkers } from '../live-documents/notebooks/cellMarkers';
import { EXTENSION_ID, IShouldersClient, TRANSLATION_DOMAIN } from '../tokens';

const ID = `${EXTENSION_ID}:cells`;
const POLICIES: readonly RunPolicy[] = ['ask', 'never', 'free'];

/** Marks stale cells and those with a run policy; adds the commands that set one. */
export const cellMarkers: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Marks stale cells, and says which cells the agent may run.',
  autoStart: true,
  requires: [IShouldersClient, INotebookTracker],
  optional: [ISettingRegistry, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    notebooks: INotebookTracker,
    settings: ISettingRegistry | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    // Lives as long as the page.
    const marks = new CellMarkers(
      notebooks,
      client.socket.frameReceived,
      trans
    );
    void settings?.load(ID).then(loaded => {
      const read = (): void => {
        marks.shown = loaded.composite.showStale !== false;
      };
      loaded.changed.connect(read);
      read();
    });
    const labels: Record<RunPolicy, string> = {
      ask: trans.__('Agent: Ask Before Running'),
      never: trans.__('Agent: Never Run'),
      free: trans.__('Agent: No Restriction on Running')
    };
    const selected = () =>
      notebooks.currentWidget?.content.selectedCells.filter(
        ({ model }) => model.type === 'code'
      ) ?? [];
    for (const policy of POLICIES) {
      const command = `${EXTENSION_ID}:run-policy-${policy}`;
      app.commands.addCommand(command, {
        label: labels[policy],
        describedBy: { args: { type: 'object', properties: {} } },
        isEnabled: () => selected().length > 0,
        isToggled: () => {
          const chosen = selected();
          return (
            chosen.length > 0 &&
            chosen.every(
              ({ model }) => policyOf(model.getMetadata('tags')) === policy
            )
          );
        },
        execute: () => {
          for (const { model } of selected()) {
            const tags = withPolicy(model.getMetadata('tags'), policy);
            if (tags.length > 0) {
              model.setMetadata('tags', tags);
            } else {
              model.deleteMetadata('tags');
            }
          }
        }
      });
      palette?.addItem({ command, category: trans.__('AI') });
    }
  }
};
