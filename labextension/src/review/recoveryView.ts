/** Shows recovered text above the notebooks it belongs to. Loaded by the documents plugin with the first offer. */

import { Notification } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { DisposableDelegate } from '@lumino/disposable';

import type { IRecoveryView } from '../bridge/recovery';
import { visible } from '../model/visible';
import { RecoveryNotice } from './RecoveryNotice';

/** The notices of this page. */
export function recoveryView(
  notebooks: INotebookTracker,
  trans: TranslationBundle
): IRecoveryView {
  return {
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
          visible(path)
        ),
        { autoClose: false }
      )
  };
}
