/**
 * Tracks the locations of the threads in all open documents and reveals them. Loaded by the threads plugin. See
 * docs/design/task-threads.md.
 */

import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { FilePanel } from '../live-documents/openEditTargets';
import {
  isWordDocument,
  type IWordPage,
  type IWordPages
} from '../live-documents/wordPages';
import type { IHttpClient } from '../client/http';
import type { IPageSocket } from '../client/socket';
import type { IConversations } from '../model/conversations/interface';
import type { Anchor, Session } from '../wire/generated';
import { ThreadDocument, type Context } from './threadDocument';
import type {
  IThreadLocation,
  IThreadLocations
} from '../host/threadLocations';
import { ThreadMetadataStore } from './metadataStore';
import { AnchorReporter } from './anchorReporter';
import { revealInFile, revealInNotebook } from './reveal';
import type { IThreadPosition } from './tracking/trackedThread';

/** JupyterLab's name for its text editor factory. */
const EDITOR = 'Editor';

/** A document that can have threads. */
type OpenPanel = NotebookPanel | FilePanel | IWordPage['widget'];

/** Services that `ThreadLocations` needs. */
export interface IThreadLocationsOptions {
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly words: IWordPages | null;
  readonly documents: IDocumentManager;
  readonly conversations: Pick<IConversations, 'threads' | 'history'>;
  readonly http: Pick<IHttpClient, 'call'>;
  readonly socket: Pick<IPageSocket, 'frameReceived'>;
}

/** The locations of all threads in open documents; lives as long as the page. */
export class ThreadLocations implements IThreadLocations {
  constructor(private readonly options: IThreadLocationsOptions) {
    const { notebooks, files, conversations } = options;
    notebooks.widgetAdded.connect((_, panel) => this.onAdded(panel, true));
    files?.widgetAdded.connect((_, panel) => this.onAdded(panel));
    notebooks.forEach(panel => this.onAdded(panel, true));
    files?.forEach(panel => this.onAdded(panel));
    notebooks.currentChanged.connect((_, panel) => this.toFront(panel));
    files?.currentChanged.connect((_, panel) => this.toFront(panel));
    options.words?.changed.connect(() => this.onPages());
    this.onPages();
    this.front = notebooks.currentWidget ?? files?.currentWidget ?? null;
    conversations.history.changed.connect(() => this.sync());
    options.socket.frameReceived.connect((_, frame) => {
      if (frame.type === 'settings-update' && frame.part === 'settings') {
        this.listWriters.forEach(keep => keep());
      }
    });
    window.addEventListener('pagehide', () =>
      this.open.forEach(document => void this.reporters.get(document)?.flush())
    );
  }

  readonly changed = new Signal<this, void>(this);

  get currentDocument(): string | null {
    const { front } = this;
    return front === null || front.isDisposed ? null : front.context.localPath;
  }

  of(sessionId: string): IThreadLocation | null {
    for (const document of this.open.values()) {
      const place = document.of(sessionId);
      if (place !== null) {
        return place;
      }
    }
    return null;
  }

  in(document: string): readonly IThreadLocation[] {
    return this.at(document)?.all ?? [];
  }

  async reveal({ id, anchor }: Session): Promise<boolean> {
    if (anchor === null) {
      return false;
    }
    const widget = this.options.documents.openOrReveal(
      this.of(id)?.anchor.document ?? anchor.document,
      anchor.cell_id === null && !isWordDocument(anchor.document)
        ? EDITOR
        : undefined
    );
    if (widget === undefined) {
      return false;
    }
    await widget.context.ready;
    await this.loadedThreads.get(widget.context);
    return this.show(widget, id, anchor);
  }

  private async show(
    widget: IDocumentWidget,
    id: string,
    anchor: Anchor
  ): Promise<boolean> {
    const { notebooks, files } = this.options;
    const tracker = this.open.get(widget.context)?.tracker;
    const spot = tracker?.positionOf(id) ?? null;
    if (tracker === undefined || spot === null) {
      return false;
    }
    const panel = notebooks.find(each => isSame(each, widget));
    if (panel !== undefined) {
      const number = tracker.numberOf(spot.unit) ?? 0;
      return revealInNotebook(panel, spot, anchor, number);
    }
    const file = files?.find(each => isSame(each, widget));
    if (file !== undefined) {
      revealInFile(file, spot);
      return true;
    }
    return this.revealInPage(widget, spot);
  }

  private revealInPage(
    widget: IDocumentWidget,
    { range }: IThreadPosition
  ): boolean {
    const { words } = this.options;
    const page = words?.all.find(each => isSame(each.widget, widget));
    if (page !== undefined && range !== null) {
      page.reveal(range);
    }
    return page !== undefined;
  }

  /** A Word page was opened, closed or became current. */
  private onPages(): void {
    const { words } = this.options;
    for (const page of words?.all ?? []) {
      if (!this.pages.has(page)) {
        this.pages.add(page);
        this.onAdded(page.widget, false, page.loaded);
      }
    }
    const current = words?.current ?? null;
    if (current !== null) {
      this.toFront(current.widget);
    }
  }

  private onAdded(
    panel: OpenPanel,
    isNotebook = false,
    ready?: Promise<void>
  ): void {
    const context: Context = panel.context;
    panel.node.addEventListener('focusin', () => this.toFront(panel));
    panel.disposed.connect(() => this.onClosed());
    if (this.loadedThreads.has(context)) {
      return; // Another view of it.
    }
    const looked = (ready ?? context.ready).then(() =>
      this.opened(context, isNotebook)
    );
    this.loadedThreads.set(context, looked);
    looked.catch((error: unknown) => {
      console.warn(`Threads of ${context.localPath} are not followed:`, error);
    });
  }

  private async opened(context: Context, isNotebook: boolean): Promise<void> {
    if (context.isDisposed) {
      return;
    }
    const document = new ThreadDocument(context, isNotebook);
    const kept = isNotebook
      ? new ThreadMetadataStore(this.options.http, document)
      : null;
    const keep = (): void => {
      kept?.write().catch((error: unknown) => {
        console.warn(`The threads of ${document.path} are not kept:`, error);
      });
    };
    const reporter = new AnchorReporter(this.options.http, document, keep);
    document.changed.connect(keep);
    this.listWriters.add(keep);
    context.saveState.connect((_, state) => {
      if (state === 'started') {
        kept?.writeNow(); // After the save the list would be missing in the file, and the notebook unsaved again.
      }
    });
    this.open.set(context, document);
    this.reporters.set(document, reporter);
    document.tracker.moved.connect(() => this.emitLater());
    document.reread.connect(() => this.emitLater());
    context.disposed.connect(() => {
      this.open.delete(context);
      this.listWriters.delete(keep);
      void reporter.flush();
      reporter.dispose();
      document.dispose();
      this.emitLater();
    });
    context.pathChanged.connect(() => void this.loadThreads(document));
    await this.loadThreads(document);
    if (await kept?.adopt()) {
      await this.options.conversations.threads.refresh(document.path);
      this.setThreads(document);
    }
  }

  /** Load the threads of a document and track them. */
  private async loadThreads(document: ThreadDocument): Promise<void> {
    document.isLoading = true;
    this.setThreads(document);
    this.emitLater();
    await this.options.conversations.threads.load(document.path);
    document.isLoading = false;
    this.setThreads(document);
  }

  private sync(): void {
    this.open.forEach(document => this.setThreads(document));
  }

  private setThreads(document: ThreadDocument): void {
    if (
      !document.isDisposed &&
      document.setThreads(this.options.conversations.threads.all)
    ) {
      this.reporters.get(document)?.moved(document.takeMoved());
      this.emitLater();
    }
  }

  private at(path: string): ThreadDocument | null {
    for (const document of this.open.values()) {
      if (document.path === path) {
        return document;
      }
    }
    return null;
  }

  private toFront(panel: OpenPanel | null): void {
    if (panel !== null && panel !== this.front) {
      this.front = panel;
      this.emitLater();
    }
  }

  private onClosed(): void {
    if (this.front?.isDisposed === true) {
      const { notebooks, files } = this.options;
      this.front = notebooks.currentWidget ?? files?.currentWidget ?? null;
    }
    this.emitLater();
  }

  /** Emit once per animation frame. */
  private emitLater(): void {
    if (!this.isWaiting) {
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.changed.emit();
      });
    }
  }

  private readonly open = new Map<Context, ThreadDocument>();
  /** Each writes the thread list of an open notebook, as the settings say. */
  private readonly listWriters = new Set<() => void>();
  private readonly reporters = new WeakMap<ThreadDocument, AnchorReporter>();
  /** Settled once the threads of a document are loaded. */
  private readonly loadedThreads = new WeakMap<Context, Promise<void>>();
  private front: OpenPanel | null = null;
  private readonly pages = new WeakSet<IWordPage>();
  private isWaiting = false;
}

function isSame(one: Widget, other: Widget): boolean {
  return one === other;
}
