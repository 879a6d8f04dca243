/** The schedules plugin: the commands that open the page of schedules, with or without the form for a new one. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import {
  EXTENSION_ID,
  IConversations,
  IShouldersClient,
  TRANSLATION_DOMAIN
} from '../../tokens';
import type { SchedulesPageOpener } from './schedulesWidget';

/** Namespace of the page's state; JupyterLab finds none with a colon. */
const NAMESPACE = `${EXTENSION_ID}-schedules`;

/** Command id; a public interface. */
const OPEN = `${EXTENSION_ID}:open-schedules`;

/** Command id; a public interface. */
const SCHEDULE = `${EXTENSION_ID}:schedule`;

/** Command id; a public interface. */
const SCHEDULE_NOTEBOOK = `${EXTENSION_ID}:schedule-notebook`;

/** Opens the page of schedules and watchers. */
export const schedules: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:schedules`,
  description: 'The page of schedules and watchers.',
  autoStart: true,
  requires: [IShouldersClient, IConversations, IDocumentManager],
  optional: [
    ILabShell,
    ILayoutRestorer,
    ICommandPalette,
    ITranslator,
    INotebookTracker,
    IFileBrowserFactory
  ],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    documents: IDocumentManager,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
    notebooks: INotebookTracker | null,
    browsers: IFileBrowserFactory | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const tracker = new WidgetTracker<Widget>({ namespace: NAMESPACE });
    let opener: SchedulesPageOpener | null = null;
    const load = async (): Promise<SchedulesPageOpener> => {
      const { SchedulesPageOpener } = await import('./schedulesWidget');
      const area = labShell === null ? 'left' : 'main';
      opener ??= new SchedulesPageOpener({
        ...{ app, client, conversations, documents, tracker, trans, area }
      });
      return opener;
    };
    /** The notebook chosen in the file browser, or else the current one. */
    const notebook = (): string | null => {
      const [chosen] = [
        ...(browsers?.tracker.currentWidget?.selectedItems() ?? [])
      ];
      const isClicked = app.contextMenuHitTest(node =>
        node.classList.contains('jp-DirListing-item')
      );
      return isClicked !== undefined && chosen?.type === 'notebook'
        ? chosen.path
        : (notebooks?.currentWidget?.context.path ?? null);
    };
    const text = (value: unknown): string =>
      typeof value === 'string' ? value : '';
    app.commands.addCommand(OPEN, {
      label: trans.__('Schedules and Watchers'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: async () => (await load()).show(null)
    });
    app.commands.addCommand(SCHEDULE, {
      label: trans.__('Schedule…'),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            prompt: { type: 'string', description: 'The message of each run' },
            notebook: { type: 'string', description: 'A notebook to run' },
            session: {
              type: 'string',
              description: 'A conversation to continue'
            },
            title: { type: 'string', description: 'Name of the schedule' }
          }
        }
      },
      execute: async args => {
        const session = text(args.session);
        (await load()).show({
          prompt: text(args.prompt),
          notebook: text(args.notebook),
          title: text(args.title),
          ...(session === '' ? {} : { sessionId: session })
        });
      }
    });
    app.commands.addCommand(SCHEDULE_NOTEBOOK, {
      label: trans.__('Schedule Notebook…'),
      isVisible: () => notebook() !== null,
      isEnabled: () => notebook() !== null,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: async () => (await load()).show({ notebook: notebook() ?? '' })
    });
    for (const command of [OPEN, SCHEDULE_NOTEBOOK]) {
      palette?.addItem({ command, category: trans.__('AI') });
    }
    void restorer?.restore(tracker, {
      command: OPEN,
      name: () => 'schedules'
    });
  }
};
