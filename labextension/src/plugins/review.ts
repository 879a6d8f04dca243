/** The review plugin: the agent's changes in open documents and in a bar, and their commands. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { infoOf } from '../client/http';
import { hunksOf } from '../model/view-models/changeRows';
import { visible } from '../text/hiddenCharacters';
import type { ReviewController } from '../review/controller';
import type { ReviewBar } from '../review/ReviewBar';
import { PendingEditsStore } from '../review/pendingEdits';
import {
  EXTENSION_ID,
  IReview,
  IShouldersClient,
  IWordPages,
  TRANSLATION_DOMAIN
} from '../tokens';
import type { KernelDrift } from '../wire/generated';
import type { PendingEdit } from '../wire/generated';
import { addReviewCommands, Announcer } from '../review/commands';

const ID = `${EXTENSION_ID}:review`;
/** Shows the agent's changes until they are kept or undone. */
export const review: JupyterFrontEndPlugin<IReview> = {
  id: ID,
  description: 'Shows what the agent changed, to keep or undo it.',
  autoStart: true,
  provides: IReview,
  requires: [IShouldersClient, INotebookTracker, IDocumentManager],
  optional: [IEditorTracker, ICommandPalette, ITranslator, IWordPages],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    notebooks: INotebookTracker,
    documents: IDocumentManager,
    files: IEditorTracker | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
    words: IWordPages | null
  ): IReview => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    // Lives as long as the page.
    const store = new PendingEditsStore(client.http, client.socket);
    const announcer = new Announcer();
    const failed = (error: unknown): void => notifyFailure(error, trans);
    const load = async (): Promise<ReviewController> => {
      const { ReviewController } = await import('../review/controller');
      const lab = { notebooks, files, documents, words };
      return new ReviewController(store, lab, trans, {
        announce: text => announcer.announce(text),
        failed
      });
    };
    const reviewing = new LazyReview(store, load, failed);
    const bar = new BarVisibility(app, reviewing, trans);
    store.changed.connect(() => bar.update());
    store.drifted.connect((_, drift) => {
      notifyDrift(drift, trans).catch((error: unknown) =>
        console.warn('What kernels still hold could not be told:', error)
      );
    });
    addReviewCommands(app, store, reviewing, () => bar.show(), trans, palette);
    return reviewing;
  }
};

/** Loads the review once there is something to review. */
export class LazyReview implements IReview {
  constructor(
    private readonly store: PendingEditsStore,
    private readonly load: () => Promise<ReviewController>,
    private readonly failed: (error: unknown) => void
  ) {
    store.changed.connect(() => this.changed.emit());
  }

  readonly changed = new Signal<this, void>(this);

  /** Run an action of the review, loading it first. */
  run(act: (page: ReviewController) => Promise<unknown>): void {
    this.page().then(act).catch(this.failed);
  }

  async page(): Promise<ReviewController> {
    this.loaded ??= this.load();
    try {
      const page = await this.loaded;
      if (this.counted !== page) {
        this.counted = page;
        page.changed.connect(() => this.changed.emit());
        this.changed.emit();
      }
      return page;
    } catch (error) {
      this.loaded = null; // Tried again at the next request.
      throw error;
    }
  }

  get edits(): PendingEditsStore['edits'] {
    return this.store.edits;
  }

  countOf(edit: PendingEdit): number {
    return this.counted?.countOf(edit) ?? hunksOf(edit);
  }

  async decide(...args: Parameters<IReview['decide']>): Promise<void> {
    await (await this.page()).decide(...args);
  }

  async reveal(edit: PendingEdit): Promise<void> {
    await (await this.page()).reveal(edit);
  }

  private loaded: Promise<ReviewController> | null = null;
  private counted: ReviewController | null = null;
}

/** The main area of JupyterLab and of Notebook 7. */
const MAIN_AREA = '#jp-main-dock-panel, #main-panel';

/** Shows and hides the review bar. It floats, so documents do not move. */
class BarVisibility {
  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly reviewing: LazyReview,
    private readonly trans: TranslationBundle
  ) {}

  /** The pending edits changed: show the bar for new ones, hide it when there are none. */
  update(): void {
    const ids = this.reviewing.edits.map(({ id }) => id);
    const isNew = ids.some(id => !this.seenEdits.has(id));
    this.seenEdits = new Set(ids);
    if (isNew) {
      this.wanted = true;
      this.reviewing.run(page => this.attach(page));
    }
  }

  /** Show the list of all changes and focus it. */
  show(): void {
    this.wanted = true;
    this.reviewing.run(async page => {
      await this.attach(page);
      page.list(true);
    });
  }

  private async attach(page: ReviewController): Promise<void> {
    const { ReviewBar } = await import('../review/ReviewBar');
    await this.app.started; // Before that the main area is not attached.
    if (this.bar === null) {
      const bar = new ReviewBar(page, {
        trans: this.trans,
        hide: () => {
          this.wanted = false;
          page.list(false);
          this.draw(page);
        }
      });
      this.bar = bar;
      const { node } = this.app.shell;
      Widget.attach(bar, node.querySelector<HTMLElement>(MAIN_AREA) ?? node);
      page.changed.connect(() => this.draw(page));
    }
    this.draw(page);
  }

  /** The current change has its own control while it is in view. */
  private draw(page: ReviewController): void {
    const { bar } = this;
    const { isListed, isOutOfView, changes } = page.state;
    const isUseful = changes > 0 && (isListed || (this.wanted && isOutOfView));
    if (!isUseful && bar?.node.contains(document.activeElement) === true) {
      page.giveFocusBack();
    }
    bar?.setHidden(!isUseful);
  }

  private bar: ReviewBar | null = null;
  private seenEdits: ReadonlySet<string> = new Set();
  private wanted = false;
}

/** Report the kernel state that remains after an undo. */
async function notifyDrift(
  drift: readonly KernelDrift[],
  trans: TranslationBundle
): Promise<void> {
  const { driftLine } = await import('../model/view-models/restoreSummary');
  drift.forEach(each =>
    Notification.info(driftLine(each, trans), { autoClose: false })
  );
}

function notifyFailure(error: unknown, trans: TranslationBundle): void {
  const { message, hint } = infoOf(error);
  const text = hint === null ? message : `${message} ${hint}`;
  Notification.error(
    trans.__('The change could not be kept or undone: %1', visible(text)),
    {
      autoClose: false
    }
  );
}
