/** The chat panel's host in JupyterLab and Notebook. Loaded with the panel by the chat plugin. */

import {
  Clipboard,
  Dialog,
  SemanticCommand,
  showDialog
} from '@jupyterlab/apputils';
import { NotebookActions, type INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import { download } from '../../ui/download';
import type { IChatHost } from '../../host/chatHost';
import type { IPanelPlacement } from '../../host/panelPlacement';
import { storeProviderKey } from '../../host/serverLookups';
import { EXTENSION_ID } from '../../tokens';
import { Icon } from '../../lab/icons';
import { createInputHost } from './inputHost';
import type { ILabParts } from './labParts';
import { OpenDocumentTexts } from './openDocumentTexts';
import { createMessageHost } from './messageHost';
import { EditorContextWatcher } from './editorContext';

/** Make the panel's host. */
export function createChatHost(
  parts: ILabParts,
  dock: IPanelPlacement
): IChatHost {
  const { app, http, documents, languages, notebooks, trans } = parts;
  const situation = new EditorContextWatcher(
    app.shell,
    documents,
    notebooks,
    parts.labShell,
    parts.editors,
    parts.words
  );
  const messages = createMessageHost(parts, () => situation.current.document);
  return {
    ...createInputHost(parts),
    ...messages,
    trans,
    Icon,
    get situation() {
      return situation.current;
    },
    situationChanged: situation.changed,
    dock,
    openDocument: (path, cellId = null) =>
      messages.openTarget?.({ path, cellId }),
    insertBelow: (source, language) => insertBelow(notebooks, source, language),
    copy: text => {
      Clipboard.copyToSystem(text);
    },
    save: download,
    highlight: (code, language, into) =>
      languages.highlight(code, languages.findBest(language), into),
    review: parts.review,
    folderTrust: parts.folderTrust,
    reviewFolder: () =>
      void app.commands.execute(`${EXTENSION_ID}:review-folder`),
    threads: parts.threads,
    texts: new OpenDocumentTexts(notebooks, parts.editors),
    restartKernel: path => {
      const panel = documents.openOrReveal(path);
      if (panel !== undefined) {
        // By id: another notebook may be the current one until this one has the focus.
        void app.commands.execute('notebook:restart-kernel', {
          [SemanticCommand.WIDGET]: panel.id
        });
      }
    },
    setKey: (provider, key, untested) =>
      storeProviderKey(http, provider, key, untested),
    confirm: (title, body, accept) => confirm(trans, title, body, accept)
  };
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
