/**
 * Reports the anchors of an open document's threads to the server, for the agent, other pages and the next opening.
 * Only a page in which something changed reports. Used by `ThreadLocations`.
 */

import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { IDisposable } from '@lumino/disposable';

import type { IHttpClient } from '../client/http';
import type { Anchor, MoveAnchors, MovedAnchors } from '../wire/generated';
import type { ThreadDocument } from './threadDocument';

/** Delay between two reports, in ms. */
const REPORT_DELAY = 2_000;
/** Delay before a failed report is repeated, in ms. */
const RETRY_DELAY = 10_000;
/** Threads in one report; the server's limit. */
const MAX_THREADS = 1_000;

/** Reports the threads of one document. */
export class AnchorReporter implements IDisposable {
  constructor(
    private readonly http: Pick<IHttpClient, 'call'>,
    private readonly document: ThreadDocument,
    /** Called with every report. */
    private readonly reporting: () => void
  ) {
    document.tracker.moved.connect((_, { ids, isLocal }) => {
      if (isLocal) {
        this.moved(ids);
      }
    });
    document.context.saveState.connect(this.onSaveState);
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      clearTimeout(this.timer);
      this.document.context.saveState.disconnect(this.onSaveState);
    }
  }

  /** Threads moved because of a change in this page. */
  moved(ids: readonly string[]): void {
    ids.forEach(id => this.waiting.add(id));
    if (ids.length > 0) {
      this.reportLater(REPORT_DELAY);
    }
  }

  /** Report now. Never rejects: what fails is reported later. */
  async flush(): Promise<void> {
    const moved = this.changedAnchors().slice(0, MAX_THREADS);
    moved.forEach(({ session_id }) => this.waiting.delete(session_id));
    if (moved.length === 0 || this.disposed) {
      return;
    }
    this.reporting();
    try {
      const body: MoveAnchors = { moved };
      const answer = await this.http.call<MovedAnchors>(
        'POST',
        'anchors',
        body
      );
      answer.refused.forEach(({ session_id, error }) =>
        console.warn(`The place of ${session_id} is not kept:`, error.message)
      );
    } catch (error) {
      console.warn('Thread positions are reported later:', error);
      moved.forEach(({ session_id }) => this.waiting.add(session_id));
      this.reportLater(RETRY_DELAY);
    }
    if (this.waiting.size > 0) {
      this.reportLater(REPORT_DELAY);
    }
  }

  /** The anchors that differ from those the server knows. */
  private changedAnchors(): { session_id: string; anchor: Anchor }[] {
    const { path } = this.document;
    return [...this.waiting].flatMap(id => {
      const logged = this.document.serverAnchor(id);
      const anchor =
        logged?.document === path ? this.document.anchorToReport(id) : null;
      if (anchor === null || isSame(anchor, logged)) {
        this.waiting.delete(id);
        return [];
      }
      return [{ session_id: id, anchor }];
    });
  }

  private reportLater(pause: number): void {
    if (this.disposed) {
      return;
    }
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.flush();
    }, pause);
  }

  private readonly onSaveState = (
    _: unknown,
    state: DocumentRegistry.SaveState
  ): void => {
    if (state === 'completed') {
      void this.flush();
    }
  };

  private readonly waiting = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private disposed = false;
}

function isSame(one: Anchor, other: Anchor | null): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(anchor: Anchor | null): unknown {
  return (
    anchor && [
      anchor.document,
      anchor.cell_id,
      anchor.target,
      anchor.range?.from,
      anchor.range?.to,
      anchor.quote,
      anchor.prefix,
      anchor.suffix,
      anchor.version,
      anchor.certainty,
      anchor.output?.index,
      anchor.output?.nth,
      anchor.output?.alike
    ]
  );
}
