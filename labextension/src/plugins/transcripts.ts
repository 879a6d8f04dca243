/** The transcripts plugin: saved notebooks contain the transcripts of their panels, even after a reload. */

import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import { restoreTranscript } from '../live-documents/notebooks/savedTranscripts';
import { EXTENSION_ID } from '../tokens';

/** Keeps the transcripts below panels in outputs up to date. */
export const transcripts: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:transcripts`,
  description:
    'Keeps in the notebook what is said in a panel in its outputs, after a reload of the page as well.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app, notebooks: INotebookTracker): void => {
    const follow = (_: unknown, panel: NotebookPanel): void => {
      panel.sessionContext.iopubMessage.connect((_, message) => {
        if (panel.model !== null) {
          restoreTranscript(panel.model, message);
        }
      });
    };
    // Lives as long as the page; JupyterLab disconnects the signals of closed notebooks.
    notebooks.widgetAdded.connect(follow);
    notebooks.forEach(panel => follow(notebooks, panel));
  }
};
