/** The word plugin: Word documents open as read-only pages. The page's code is loaded with the first document. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import type {
  DocumentRegistry,
  IDocumentWidget
} from '@jupyterlab/docregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { fileIcon } from '@jupyterlab/ui-components';

import { REVIEW_COMMANDS } from '../review/commands';
import {
  EXTENSION_ID,
  IShouldersClient,
  IWordPages,
  TRANSLATION_DOMAIN
} from '../tokens';
import { OpenWordPages, WordPageFactory } from '../word/openPages';
import { WORD_MODEL, WordModelFactory } from '../word/wordModel';

const FILE_TYPE = 'docx';
const FACTORY = 'Word Page';
const MIME_TYPE =
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Opens Word documents. */
export const word: JupyterFrontEndPlugin<IWordPages> = {
  id: `${EXTENSION_ID}:word`,
  description: 'Word documents as read-only pages.',
  autoStart: true,
  provides: IWordPages,
  requires: [IShouldersClient],
  optional: [ILabShell, ILayoutRestorer, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null
  ): IWordPages => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { docRegistry } = app;
    if (docRegistry.getFileType(FILE_TYPE) === undefined) {
      docRegistry.addFileType({
        name: FILE_TYPE,
        displayName: trans.__('Word Document'),
        icon: fileIcon,
        extensions: ['.docx', '.docm'],
        mimeTypes: [MIME_TYPE],
        contentType: 'file',
        fileFormat: 'base64'
      });
    }
    docRegistry.addModelFactory(new WordModelFactory());
    const pages = new OpenWordPages(app.shell, labShell);
    const factory = new WordPageFactory(
      {
        name: FACTORY,
        label: trans.__('Word Page'),
        modelName: WORD_MODEL,
        fileTypes: [FILE_TYPE],
        defaultFor: [FILE_TYPE],
        readOnly: true
      },
      {
        http: client.http,
        files: app.serviceManager.contents,
        frames: client.socket.frameReceived,
        trans,
        openReview: () => void app.commands.execute(REVIEW_COMMANDS.show)
      }
    );
    const tracker = new WidgetTracker<IDocumentWidget>({
      namespace: `${EXTENSION_ID}-word`
    });
    factory.widgetCreated.connect((_, widget) => {
      pages.add(widget);
      void tracker.add(widget);
      widget.context.pathChanged.connect(() => void tracker.save(widget));
    });
    // The base class allows undefined where the interface leaves a member out.
    docRegistry.addWidgetFactory(factory as DocumentRegistry.WidgetFactory);
    void restorer?.restore(tracker, {
      command: 'docmanager:open',
      args: ({ context: { path } }) => ({ path, factory: FACTORY }),
      name: ({ context: { path } }) => path
    });
    return pages;
  }
};
