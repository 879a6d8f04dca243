/** The texts plugin: lets the server read and change the text files open in this page's editors. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { DisposableDelegate } from '@lumino/disposable';

import { FileMoves } from '../live-documents/fileMoves';
import { TextBridge } from '../live-documents/textBridge';
import type { AskTextConflict } from '../live-documents/file-sync/textFileSync';
import { visible } from '../text/hiddenCharacters';
import {
  EXTENSION_ID,
  IOpenTexts,
  IShouldersClient,
  TRANSLATION_DOMAIN
} from '../tokens';

/** Announces open text files and applies the agent's edits to them. */
export const textFiles: JupyterFrontEndPlugin<IOpenTexts> = {
  id: `${EXTENSION_ID}:texts`,
  description: 'Lets the agent work in the text files open in this page.',
  autoStart: true,
  requires: [IShouldersClient, IEditorTracker, IDocumentManager],
  optional: [ITranslator],
  provides: IOpenTexts,
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    editors: IEditorTracker,
    documents: IDocumentManager,
    translator: ITranslator | null
  ): IOpenTexts => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const askConflict: AskTextConflict = ({ path, keep, take }) => {
      const id = Notification.warning(
        trans.__(
          '%1 was saved elsewhere with changes to lines that you also changed here. Your text is still here.',
          visible(path)
        ),
        {
          autoClose: false,
          actions: [
            { label: trans.__('Keep my text'), callback: keep },
            { label: trans.__('Use the saved text'), callback: take }
          ]
        }
      );
      return new DisposableDelegate(() => Notification.dismiss(id));
    };
    // Lives as long as the page.
    const files = app.serviceManager.contents;
    const bridge = new TextBridge(client.socket, {
      editors,
      files,
      askConflict
    });
    new FileMoves(
      client.socket,
      files,
      documents,
      path => bridge.find(path)?.dirty === true
    );
    window.addEventListener('focus', bridge.focus);
    window.addEventListener('pagehide', bridge.announceAll);
    return bridge;
  }
};
