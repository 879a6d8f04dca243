/** The review plugin: what the agent changed, in the open documents and in a bar, and the commands for it. */

import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
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

import { infoOf } from '../client/http';
import { visible } from '../model/visible';
import type { ReviewPage } from '../review/page';
import type { ReviewBar } from '../review/ReviewBar';
import { ReviewStore } from '../review/store';
import {
  EXTENSION_ID,
  IReview,
  IShouldersClient,
  TRANSLATION_DOMAIN
} from '../tokens';
import type { KernelDrift } from '../wire/generated';
import type { PendingEdit } from '../wire/generated';
import { addReviewCommands, Announcer } from './reviewCommands';

const ID = `${EXTENSION_ID}:review`;
/** Above the status bar. */
const RANK = 1;

/** Shows the agent's changes until they are kept or undone. */
export const review: JupyterFrontEndPlugin<IReview> = {
  id: ID,
  description: 'Shows what the agent changed, to keep or undo it.',
  autoStart: true,
  provides: IReview,
  requires: [IShouldersClient, INotebookTracker, IDocumentManager],
  optional: [IEditorTracker, ILabShell, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    notebooks: INotebookTracker,
    documents: IDocumentManager,
    files: IEditorTracker | null,
    labShell: ILabShell | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): IReview => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    // Lives as long as the page.
    const store = new ReviewStore(client.http, client.socket);
    const announcer = new Announcer();
    const failed = (error: unknown): void => tellFailure(error, trans);
    const load = async (): Promise<ReviewPage> => {
      const { ReviewPage } = await import('../review/page');
      const lab = { notebooks, files, documents };
      return new ReviewPage(store, lab, trans, {
        say: text => announcer.say(text),
        failed
      });
    };
    const reviewing = new Reviewing(store, load, failed);
    const bar = new BarPlace(app, labShell !== null, reviewing, trans);
    store.changed.connect(() => bar.update());
    store.drifted.connect((_, drift) => {
      tellDrift(drift, trans).catch((error: unknown) =>
        console.warn('What kernels still hold could not be told:', error)
      );
    });
    addReviewCommands(app, store, reviewing, () => bar.show(), trans, palette);
    return reviewing;
  }
};

/** Loads the review of the page when there is something to review, once. */
export class Reviewing implements IReview {
  constructor(
    private readonly store: ReviewStore,
    private readonly load: () => Promise<ReviewPage>,
    private readonly failed: (error: unknown) => void
  ) {}

  /** Do something with the review of the page. */
  run(act: (page: ReviewPage) => Promise<unknown>): void {
    this.page().then(act).catch(this.failed);
  }

  async page(): Promise<ReviewPage> {
    this.loaded ??= this.load();
    try {
      return await this.loaded;
    } catch (error) {
      this.loaded = null; // Tried again when it is asked for again.
      throw error;
    }
  }

  get edits(): ReviewStore['edits'] {
    return this.store.edits;
  }

  get changed(): ReviewStore['changed'] {
    return this.store.changed;
  }

  async decide(...args: Parameters<IReview['decide']>): Promise<void> {
    await (await this.page()).decide(...args);
  }

  async reveal(edit: PendingEdit): Promise<void> {
    await (await this.page()).reveal(edit);
  }

  private loaded: Promise<ReviewPage> | null = null;
}

/** Where the bar stands, and whether. */
class BarPlace {
  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly isLab: boolean,
    private readonly reviewing: Reviewing,
    private readonly trans: TranslationBundle
  ) {}

  /** The list is another: show the bar when there is something new, put it away when there is nothing. */
  update(): void {
    const ids = this.reviewing.edits.map(({ id }) => id);
    const isNew = ids.some(id => !this.seen.has(id));
    this.seen = new Set(ids);
    if (isNew) {
      this.show();
    } else if (ids.length === 0) {
      this.hide();
    }
  }

  show(): void {
    this.wanted = this.reviewing.edits.length > 0;
    if (this.wanted) {
      this.reviewing.run(page => this.place(page));
    }
  }

  /** The focus, if it was in the bar, goes to the document in front. */
  private hide(): void {
    const { bar } = this;
    const { shell } = this.app;
    const hadFocus = bar?.node.contains(document.activeElement) === true;
    this.wanted = false;
    bar?.hide();
    if (hadFocus && shell.currentWidget !== null) {
      shell.activateById(shell.currentWidget.id);
    }
  }

  private async place(page: ReviewPage): Promise<void> {
    const { ReviewBar } = await import('../review/ReviewBar');
    if (this.bar === null) {
      const hide = (): void => this.hide();
      this.bar = new ReviewBar(page, { trans: this.trans, hide });
      const area = this.isLab ? 'bottom' : 'top';
      this.app.shell.add(this.bar, area, { rank: RANK });
    }
    this.bar.setHidden(!this.wanted);
  }

  private bar: ReviewBar | null = null;
  private seen: ReadonlySet<string> = new Set();
  private wanted = false;
}

/** Say what a kernel still holds of what was undone. */
async function tellDrift(
  drift: readonly KernelDrift[],
  trans: TranslationBundle
): Promise<void> {
  const { driftLine } = await import('../model/restore');
  drift.forEach(each =>
    Notification.info(driftLine(each, trans), { autoClose: false })
  );
}

function tellFailure(error: unknown, trans: TranslationBundle): void {
  const { message, hint } = infoOf(error);
  const text = hint === null ? message : `${message} ${hint}`;
  Notification.error(
    trans.__('The change was not decided: %1', visible(text)),
    {
      autoClose: false
    }
  );
}
