/**
 * Loads the code that shows recovered text with the first offer: most pages never need it. Keeps events in order
 * while it loads. Used by `NotebookBridge`.
 */

import type { DocumentRecovery } from '../wire/generated';
import type { Send } from './documentAnnouncers';
import type { NotebookAnnouncer } from './documentAnnouncers';
import type { IRecoveryView, Recoveries } from './recovery';

/** Loads the view that shows offers. */
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
    this.whenLoaded(recoveries => recoveries.offered(open, frame));
  }

  /** The offer was answered in another page, or its own page is back. */
  withdrawn(id: string): void {
    this.whenLoaded(recoveries => recoveries.withdrawn(id));
  }

  /** A notebook was closed. */
  closed(open: NotebookAnnouncer): void {
    this.whenLoaded(recoveries => recoveries.closed(open));
  }

  private async load(): Promise<Recoveries> {
    const [{ Recoveries }, view] = await Promise.all([
      import('./recovery'),
      this.loadView()
    ]);
    return new Recoveries(view, this.send);
  }

  private whenLoaded(act: (recoveries: Recoveries) => void): void {
    this.recoveries?.then(act).catch((error: unknown) => {
      // The server keeps the text and offers it again at the next connection.
      this.recoveries = null;
      console.warn('Unsaved text could not be offered:', error);
    });
  }

  private recoveries: Promise<Recoveries> | null = null;
}
