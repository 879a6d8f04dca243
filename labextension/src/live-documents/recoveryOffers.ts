/**
 * What shows recovered text is loaded with the first offer of some: most pages never see one. Keeps what happens
 * meanwhile in its order. Used by `NotebookBridge`.
 */

import type { DocumentRecovery } from '../wire/generated';
import type { Send } from './announcedState';
import type { NotebookAnnouncer } from './notebookAnnouncer';
import type { IRecoveryView, Recoveries } from './recovery';

/** Loads the way in which offers are shown. */
export type LoadRecoveryView = () => Promise<IRecoveryView>;

/** The offers of all notebooks of this page. */
export class RecoveryOffers {
  constructor(
    private readonly loadView: LoadRecoveryView,
    private readonly send: Send
  ) {}

  /** Show an offer. */
  offered(open: NotebookAnnouncer, frame: DocumentRecovery): void {
    this.recoveries ??= this.load();
    this.then(recoveries => recoveries.offered(open, frame));
  }

  /** It was answered in another page, or its own page is back. */
  withdrawn(id: string): void {
    this.then(recoveries => recoveries.withdrawn(id));
  }

  /** A notebook is closed. */
  closed(open: NotebookAnnouncer): void {
    this.then(recoveries => recoveries.closed(open));
  }

  private async load(): Promise<Recoveries> {
    const [{ Recoveries }, view] = await Promise.all([
      import('./recovery'),
      this.loadView()
    ]);
    return new Recoveries(view, this.send);
  }

  private then(act: (recoveries: Recoveries) => void): void {
    this.recoveries?.then(act).catch((error: unknown) => {
      // The server keeps the text, and offers it again when this page connects anew.
      this.recoveries = null;
      console.warn('Unsaved text could not be offered:', error);
    });
  }

  private recoveries: Promise<Recoveries> | null = null;
}
