/**
 * The page around the chat panel, as JupyterLab and Notebook have it: what the views may ask of it. Loaded with the
 * panel, by the chat plugin; nothing here is part of the start.
 */

import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import {
  Clipboard,
  Dialog,
  SemanticCommand,
  showDialog
} from '@jupyterlab/apputils';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import { NotebookActions, type INotebookTracker } from '@jupyterlab/notebook';
import type { ILatexTypesetter } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';

import { download } from '../chat/download';
import type { IChatHost } from '../chat/host';
import type { IDock } from '../chat/host-places';
import type { IHttpClient } from '../client/http';
import { storeKey } from '../client/lookups';
import type { IReview } from '../review/interface';
import type { IThreadPlaces } from '../threads/interface';
import { EXTENSION_ID } from '../tokens';
import type { IFolderTrust } from '../trust/interface';
import { Icon } from './icons';
import { makeInputHost } from './labInput';
import { LiveTexts } from './liveTexts';
import { messageHost } from './messageHost';
import { SituationWatcher } from './situation';

/** What of the application the host is made of; null is what Notebook may lack. */
export interface ILabParts {
  readonly app: JupyterFrontEnd;
  readonly http: IHttpClient;
  readonly documents: IDocumentManager;
  readonly languages: IEditorLanguageRegistry;
  readonly notebooks: INotebookTracker | null;
  readonly labShell: ILabShell | null;
  readonly editors: IEditorTracker | null;
  readonly review: IReview | null;
  readonly threads: IThreadPlaces | null;
  readonly folderTrust: IFolderTrust | null;
  readonly latex: ILatexTypesetter | null;
  readonly trans: TranslationBundle;
}

/** Make the host of the panel of this page. */
export function makeHost(parts: ILabParts, dock: IDock): IChatHost {
  const { app, http, documents, languages, notebooks, trans } = parts;
  const situation = new SituationWatcher(
    app.shell,
    documents,
    notebooks,
    parts.labShell,
    parts.editors
  );
  const messages = messageHost(parts, () => situation.current.document);
  return {
    ...makeInputHost(parts),
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
    texts: new LiveTexts(notebooks, parts.editors),
    restartKernel: path => {
      const panel = documents.openOrReveal(path);
      if (panel !== undefined) {
        // By its id: another notebook may be the current one until this one has the focus.
        void app.commands.execute('notebook:restart-kernel', {
          [SemanticCommand.WIDGET]: panel.id
        });
      }
    },
    setKey: (provider, key, untested) =>
      storeKey(http, provider, key, untested),
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
