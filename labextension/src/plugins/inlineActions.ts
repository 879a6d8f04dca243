/**
 * The inline actions plugin: commands for cells, outputs and selections. Their implementation is loaded with a
 * document.
 */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { InlineActionsController } from '../inline-actions/controller';
import {
  EXTENSION_ID,
  IConversations,
  IShouldersClient,
  IWordPages,
  TRANSLATION_DOMAIN
} from '../tokens';
import { INLINE_ACTION_COMMANDS } from '../inline-actions/commandIds';
import { sparkIcon } from '../lab/customIcons';

/** Adds the inline action commands. */
export const inlineActions: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:affordances`,
  description: 'Help beside cells, outputs and selected text.',
  autoStart: true,
  requires: [IShouldersClient, IConversations, INotebookTracker],
  optional: [IEditorTracker, ICommandPalette, ITranslator, IWordPages],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    notebooks: INotebookTracker,
    files: IEditorTracker | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
    words: IWordPages | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    let loaded: Promise<InlineActionsController> | null = null;
    const load = (): Promise<InlineActionsController> =>
      (loaded ??= import('../inline-actions/controller').then(
        page =>
          new page.InlineActionsController({
            ...{ app, http: client.http, conversations },
            ...{ notebooks, files, words, trans }
          }),
        (error: unknown) => {
          loaded = null; // Tried again with the next document or command.
          throw error;
        }
      ));
    const begin = (): void => {
      load().catch((error: unknown) => {
        console.error('The help beside cells could not be loaded:', error);
      });
    };
    notebooks.widgetAdded.connect(begin);
    files?.widgetAdded.connect(begin);
    words?.changed.connect(() => {
      if (words.all.length > 0) {
        begin();
      }
    });
    const labels: Record<keyof typeof INLINE_ACTION_COMMANDS, string> = {
      edit: trans.__('Edit with AI…'),
      generate: trans.__('Write a Cell Below with AI…'),
      explain: trans.__('Explain with AI'),
      fix: trans.__('Fix the Error and Run'),
      askOutput: trans.__('Ask AI About This Output'),
      askSelection: trans.__('Ask AI About the Selection'),
      openMenu: trans.__('Open the AI Menu of the Cell')
    };
    const isOpen = (): boolean =>
      Boolean(
        notebooks.currentWidget ?? files?.currentWidget ?? words?.current
      );
    for (const name of Object.keys(
      labels
    ) as (keyof typeof INLINE_ACTION_COMMANDS)[]) {
      const command = INLINE_ACTION_COMMANDS[name];
      app.commands.addCommand(command, {
        label: labels[name],
        ...(name === 'openMenu' && { icon: sparkIcon }),
        describedBy: { args: { type: 'object', properties: {} } },
        isEnabled: isOpen,
        execute: async () => (await load())[name]()
      });
      palette?.addItem({ command, category: trans.__('AI') });
    }
  }
};
