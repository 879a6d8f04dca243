/** The chat plugin: the panel and its commands. The panel's content is loaded when it is first shown. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ILatexTypesetter } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import {
  EXTENSION_ID,
  IConversations,
  IFolderTrust,
  IReview,
  IShouldersClient,
  IThreads,
  IWordPages,
  TRANSLATION_DOMAIN
} from '../tokens';
import { captureChordShortcuts } from './chat-panel/chordShortcuts';
import { addChatCommands } from './chat-panel/chatCommands';
import { openOnFirstTour } from './chat-panel/firstTour';
import { browserStorage } from '../lab/browserStorage';
import { foldSidebarsWhenNarrow, sideOf } from './chat-panel/sidebarFolding';
import { ChatWidget } from './chat-panel/chatWidget';
import { PanelPlacement } from './chat-panel/panelPlacement';

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
    IEditorTracker,
    IReview,
    ILatexTypesetter,
    ISettingRegistry,
    IThreads,
    IFolderTrust,
    IWordPages
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
    editors: IEditorTracker | null,
    review: IReview | null,
    latex: ILatexTypesetter | null,
    registry: ISettingRegistry | null,
    threads: IThreads | null,
    folderTrust: IFolderTrust | null,
    words: IWordPages | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const panel = new ChatWidget({
      conversations,
      socket: client.socket,
      trans,
      parts: {
        app,
        http: client.http,
        documents,
        languages,
        notebooks,
        labShell,
        editors,
        words,
        review,
        latex,
        threads,
        folderTrust,
        trans
      }
    });
    const { baseUrl } = app.serviceManager.serverSettings;
    const placement = new PanelPlacement({
      app,
      panel,
      labShell,
      storage: browserStorage(baseUrl, 'panel'),
      bubbleStorage: browserStorage(baseUrl, 'bubble'),
      settings: async () => (await registry?.load(chat.id)) ?? null
    });
    restorer?.add(panel, panel.id);
    void placement.restore();
    const { awayReport } = conversations;
    awayReport.returned.connect(() => void placement.reveal());
    if (awayReport.report !== null) {
      void placement.reveal(); // It changed before this plugin was activated.
    }
    openOnFirstTour({
      notebooks,
      panel,
      placement,
      storage: browserStorage(baseUrl, 'tour')
    });
    addChatCommands(app, panel, placement, trans, palette);
    captureChordShortcuts(app.commands);
    if (labShell !== null) {
      foldSidebarsWhenNarrow(labShell, panel, () => sideOf(placement.location));
    }
  }
};
