/** Shows recovered text above its notebook. Loaded by the documents plugin with the first offer. */

import { Notification } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { DisposableDelegate } from '@lumino/disposable';

import type { NotebookContext } from '../live-documents/notebooks/openNotebook';
import type { IRecoveryOffer, IRecoveryView } from '../live-documents/recovery';
import { visible } from '../text/hiddenCharacters';
import { RecoveryNotice } from './RecoveryNotice';

type Author = IRecoveryOffer['author'];

/** Make the recovery view of this page. */
export function recoveryView(
  notebooks: INotebookTracker,
  trans: TranslationBundle
): IRecoveryView {
  const groups = new Map<NotebookContext, Map<Author, Group>>();
  return {
    offerRecovery: (context, offer) => {
      const known = groups.get(context) ?? new Map<Author, Group>();
      groups.set(context, known);
      const group =
        known.get(offer.author) ?? new Group(notebooks, context, trans);
      known.set(offer.author, group);
      group.add(offer);
      return new DisposableDelegate(() => {
        group.remove(offer);
        if (group.isEmpty && known.get(offer.author) === group) {
          known.delete(offer.author);
        }
      });
    },
    notifyConflicts: (path, cells) =>
      Notification.warning(
        trans._n(
          '%1 cell of %2 was changed since. The restored text is in a new cell below it.',
          '%1 cells of %2 were changed since. The restored text is in new cells below them.',
          cells,
          visible(path)
        ),
        { autoClose: false }
      )
  };
}

/** The offers of one author for a notebook: one notice in each view, even if several pages left text. */
class Group {
  constructor(
    private readonly notebooks: INotebookTracker,
    private readonly context: NotebookContext,
    private readonly trans: TranslationBundle
  ) {}

  get isEmpty(): boolean {
    return this.offers.length === 0;
  }

  add(offer: IRecoveryOffer): void {
    this.offers = [...this.offers, offer].sort((one, other) =>
      one.at.localeCompare(other.at)
    );
    this.draw();
  }

  remove(offer: IRecoveryOffer): void {
    this.offers = this.offers.filter(other => other !== offer);
    this.draw();
  }

  private draw(): void {
    const { offers } = this;
    if (this.isEmpty) {
      this.notices.forEach(notice => notice.dispose());
      this.notices = [];
    } else if (this.notices.length === 0) {
      const panels = this.notebooks.filter(
        panel => panel.context === this.context
      );
      this.notices = panels.map(panel => {
        const notice = new RecoveryNotice(offers, this.trans);
        panel.contentHeader.addWidget(notice);
        return notice;
      });
    } else {
      this.notices.forEach(notice => notice.present(offers));
    }
  }

  private offers: readonly IRecoveryOffer[] = [];
  private notices: RecoveryNotice[] = [];
}
