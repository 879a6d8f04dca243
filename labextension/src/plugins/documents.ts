/** The documents plugin: lets the server read and change the notebooks open in this page. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { NotebookBridge } from '../live-documents/notebookBridge';
import { visible } from '../text/hiddenCharacters';
import { EXTENSION_ID, IShouldersClient, TRANSLATION_DOMAIN } from '../tokens';
import type { OutputDraw } from '../wire/generated';

/** Announces open notebooks and applies the agent's edits to them. */
export const documents: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:documents`,
  description: 'Lets the agent work in the notebooks open in this page.',
  autoStart: true,
  requires: [IShouldersClient, INotebookTracker],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    notebooks: INotebookTracker,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    // Lives as long as the page.
    const elsewhere = new Map<string, string>();
    const dismissElsewhere = (path: string): void => {
      const known = elsewhere.get(path);
      if (known !== undefined) {
        elsewhere.delete(path);
        Notification.dismiss(known);
      }
    };
    const bridge = new NotebookBridge(client.socket, {
      notebooks,
      files: app.serviceManager.contents,
      notifyConflict: (path, cells) =>
        Notification.warning(
          trans._n(
            '%2 was saved elsewhere. You changed one of its cells here too, so the saved text is in a new cell below it.',
            '%2 was saved elsewhere. You changed %1 of its cells here too, so the saved texts are in new cells below them.',
            cells,
            visible(path)
          ),
          { autoClose: false }
        ),
      notifyElsewhere: (path, cells) => {
        dismissElsewhere(path);
        const message = trans._n(
          '%2 is also open in another window. The agent changed a cell there that you changed here. Save both windows to get both texts.',
          '%2 is also open in another window. The agent changed %1 cells there that you changed here. Save both windows to get both texts.',
          cells,
          visible(path)
        );
        elsewhere.set(path, Notification.info(message, { autoClose: false }));
      },
      dismissElsewhere: dismissElsewhere,
      loadRecoveryView: async () => {
        const { recoveryView } = await import('../review/recoveryView');
        return recoveryView(notebooks, trans);
      }
    });
    const draw = async (request: OutputDraw): Promise<void> => {
      const { OutputRasterizer, shownOutput } =
        await import('../live-documents/notebooks/outputRasterizer');
      const drawings = new OutputRasterizer(frame =>
        shownOutput(notebooks, frame)
      );
      client.socket.send(await drawings.answer(request));
    };
    client.socket.frameReceived.connect((_, frame) => {
      if (frame.type === 'output-draw') {
        draw(frame).catch((error: unknown) =>
          // The server tells the model after a timeout that there is no picture.
          console.warn('An output could not be drawn for the agent:', error)
        );
      }
    });
    window.addEventListener('focus', bridge.focus);
    window.addEventListener('pagehide', bridge.announceAll);
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
      const panel = notebooks.find(item => item.content === notebook);
      if (panel !== undefined) {
        bridge.userRunStarted(panel.context, cell.model.id);
      }
    });
    NotebookActions.executed.connect((_, { notebook, cell }) => {
      const panel = notebooks.find(item => item.content === notebook);
      if (panel !== undefined) {
        bridge.userRunEnded(panel.context, cell.model.id);
      }
    });
  }
};
