/** The documents plugin: lets the server read and change the notebooks open in this page. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { DisposableDelegate } from '@lumino/disposable';

import { DocumentBridge } from '../bridge/documents';
import { OutputDrawings, shownOutput } from '../bridge/drawings';
import { RecoveryNotice } from '../review/RecoveryNotice';
import { EXTENSION_ID, IShouldersClient } from '../tokens';

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
    const trans = (translator ?? nullTranslator).load('jupyter_ai_shoulders');
    // Lives as long as the page.
    const bridge = new DocumentBridge(client.socket, {
      notebooks,
      files: app.serviceManager.contents,
      tellConflict: (path, cells) =>
        Notification.warning(
          trans._n(
            '%2 was saved elsewhere. One cell was changed here too: the text of the file is in a new cell below it.',
            '%2 was saved elsewhere. %1 cells were changed here too: the text of the file is in new cells below them.',
            cells,
            path
          ),
          { autoClose: false }
        ),
      offerRecovery: (context, offer) => {
        const panels = notebooks.filter(panel => panel.context === context);
        const notices = panels.map(panel => {
          const notice = new RecoveryNotice(offer, trans);
          panel.contentHeader.addWidget(notice);
          return notice;
        });
        return new DisposableDelegate(() =>
          notices.forEach(notice => notice.dispose())
        );
      },
      tellKeptTwice: (path, cells) =>
        Notification.warning(
          trans._n(
            'One cell of %2 was changed since: what was restored is in a new cell below it.',
            '%1 cells of %2 were changed since: what was restored is in new cells below them.',
            cells,
            path
          ),
          { autoClose: false }
        )
    });
    new OutputDrawings(client.socket, frame => shownOutput(notebooks, frame));
    window.addEventListener('focus', bridge.focus);
    window.addEventListener('pagehide', bridge.leave);
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
      const panel = notebooks.find(item => item.content === notebook);
      if (panel !== undefined) {
        bridge.userRuns(panel.context, cell.model.id);
      }
    });
    NotebookActions.executed.connect((_, { notebook, cell }) => {
      const panel = notebooks.find(item => item.content === notebook);
      if (panel !== undefined) {
        bridge.userRan(panel.context, cell.model.id);
      }
    });
  }
};
