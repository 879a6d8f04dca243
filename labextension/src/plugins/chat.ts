/** The chat plugin: the panel in the side bar, and the commands that reach it. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  Clipboard,
  Dialog,
  ICommandPalette,
  showDialog
} from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import type { IChatHost } from '../chat/host';
import { ApiError, type IHttpClient } from '../client/http';
import { EXTENSION_ID, IConversations, IShouldersClient } from '../tokens';
import { addChatCommands } from './commands';
import { Icon } from './icons';
import { ChatWidget } from './panel';
import { SituationWatcher } from './situation';

/** Beside the property inspector and the debugger. */
const RANK = 900;

/** A download has begun by then, in ms. */
const SAVE_TIME = 60_000;

/** Adds the chat panel. */
export const chat: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:chat`,
  description: 'The chat panel.',
  autoStart: true,
  requires: [
    IShouldersClient,
    IConversations,
    IDocumentManager,
    IEditorLanguageRegistry
  ],
  optional: [
    INotebookTracker,
    ILabShell,
    ILayoutRestorer,
    ICommandPalette,
    ITranslator,
    IEditorTracker
  ],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    documents: IDocumentManager,
    languages: IEditorLanguageRegistry,
    notebooks: INotebookTracker | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
    editors: IEditorTracker | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(EXTENSION_ID);
    const situation = new SituationWatcher(
      app.shell,
      documents,
      notebooks,
      labShell,
      editors
    );
    const host: IChatHost = {
      trans,
      Icon,
      get situation() {
        return situation.current;
      },
      situationChanged: situation.changed,
      openDocument: (path, cellId) =>
        openDocument(documents, notebooks, path, cellId ?? null),
      insertBelow: (source, language) =>
        insertBelow(notebooks, source, language),
      copy: text => {
        Clipboard.copyToSystem(text);
      },
      save,
      highlight: (code, language, into) =>
        languages.highlight(code, languages.findBest(language), into),
      restartKernel: path => {
        openDocument(documents, notebooks, path, null);
        void app.commands.execute('notebook:restart-kernel');
      },
      setKey: (provider, key) => setKey(client.http, provider, key),
      confirm: (title, body, accept) => confirm(trans, title, body, accept)
    };
    const panel = new ChatWidget(
      { host, conversations, socket: client.socket },
      trans
    );
    app.shell.add(panel, 'right', { rank: RANK, type: 'AI chat' });
    restorer?.add(panel, panel.id);
    addChatCommands(app, panel, conversations, trans, palette);
  }
};

/** Hand a file to the browser as a download. */
function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), SAVE_TIME);
}

/** Store a key and try it; the words of a failed try are thrown. */
async function setKey(
  http: IHttpClient,
  provider: string,
  key: string
): Promise<void> {
  await http.setKey(provider, key);
  const { ok, error } = await http.testProvider(provider);
  if (!ok && error !== null) {
    throw new ApiError(0, error);
  }
}

function openDocument(
  documents: IDocumentManager,
  notebooks: INotebookTracker | null,
  path: string,
  cellId: string | null
): void {
  const widget: Widget | undefined = documents.openOrReveal(path);
  const panel = notebooks?.find(open => open === widget);
  if (panel === undefined || cellId === null) {
    return;
  }
  void panel.context.ready.then(() => {
    const index = panel.content.widgets.findIndex(
      cell => cell.model.id === cellId
    );
    if (index >= 0) {
      panel.content.activeCellIndex = index;
      void panel.content.scrollToItem(index, 'smart');
    }
  });
}

function insertBelow(
  notebooks: INotebookTracker | null,
  source: string,
  language: string
): boolean {
  const notebook = notebooks?.currentWidget?.content;
  if (notebook === undefined || notebook.model?.readOnly === true) {
    return false;
  }
  NotebookActions.insertBelow(notebook);
  if (/^(markdown|md)$/i.test(language)) {
    NotebookActions.changeCellType(notebook, 'markdown');
  }
  notebook.activeCell?.model.sharedModel.setSource(source);
  return true;
}

async function confirm(
  trans: TranslationBundle,
  title: string,
  body: string,
  accept: string
): Promise<boolean> {
  const { button } = await showDialog({
    title,
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label: accept })
    ]
  });
  return button.accept;
}
