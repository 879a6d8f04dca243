/** The search plugin: the command that opens the quick-pick, and the state of the index in the status bar. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { searchIcon } from '@jupyterlab/ui-components';

import type { SearchController } from '../search/controller';
import type { IIndexStatusParts } from '../search/indexStatusItem';
import {
  EXTENSION_ID,
  IConversations,
  IShouldersClient,
  TRANSLATION_DOMAIN
} from '../tokens';
import type { ServerFrame } from '../wire/generated';
import { SEARCH_COMMANDS } from '../search/commandIds';

const ARGUMENTS = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      description: 'The text to search for; by default the last one'
    }
  }
} as const;

/** Adds search in the workspace. */
export const search: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:search`,
  description: 'Search in the notebooks and files of the workspace.',
  autoStart: true,
  requires: [IShouldersClient, IConversations, IDocumentManager],
  optional: [
    INotebookTracker,
    IEditorTracker,
    IStatusBar,
    ICommandPalette,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    documents: IDocumentManager,
    notebooks: INotebookTracker | null,
    editors: IEditorTracker | null,
    bar: IStatusBar | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { http, socket } = client;
    let controller: SearchController | null = null;
    const load = async (): Promise<SearchController> => {
      const { SearchController } = await import('../search/controller');
      controller ??= new SearchController({
        ...{ app, http, socket, conversations },
        ...{ documents, notebooks, editors, trans }
      });
      return controller;
    };
    app.commands.addCommand(SEARCH_COMMANDS.open, {
      label: trans.__('Search the Workspace'),
      caption: trans.__('Search notebooks and files'),
      icon: searchIcon,
      describedBy: { args: ARGUMENTS },
      execute: async ({ query }) =>
        (await load()).open(typeof query === 'string' ? query : null)
    });
    palette?.addItem({
      command: SEARCH_COMMANDS.open,
      category: trans.__('AI')
    });
    if (bar !== null) {
      const open = (): void =>
        void app.commands.execute(`${EXTENSION_ID}:open-settings`, {
          section: 'search'
        });
      showIndexStatus(client, { bar, http, trans, open });
    }
  }
};

/** Follow the index from its first change on: until then no code is loaded and nothing is requested. */
function showIndexStatus(
  { socket }: IShouldersClient,
  parts: IIndexStatusParts
): void {
  let loading: Promise<() => void> | null = null;
  const load = async (): Promise<() => void> => {
    const { addIndexStatusItem } = await import('../search/indexStatusItem');
    return addIndexStatusItem(parts);
  };
  const onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type !== 'settings-update' || frame.part !== 'search') {
      return;
    }
    loading ??= load();
    loading.then(
      update => update(),
      (error: unknown) => {
        loading = null; // Tried again with the next change.
        console.error('The state of the index cannot be shown:', error);
      }
    );
  };
  socket.frameReceived.connect(onFrame); // Lives as long as the page.
}
