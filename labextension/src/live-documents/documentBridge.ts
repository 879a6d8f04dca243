/**
 * The part of the live-document protocol that is the same for notebooks and text files: documents are announced when
 * they open, and each operation of the server is answered once. The base of `NotebookBridge` and `TextBridge`.
 */

import type { IWidgetTracker } from '@jupyterlab/apputils';
import type {
  DocumentRegistry,
  IDocumentWidget
} from '@jupyterlab/docregistry';
import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import type {
  DocumentApply,
  DocumentRead,
  DocumentRefused,
  PageFrame,
  ServerFrame,
  TextApply,
  TextRead
} from '../wire/generated';
import type { AnnouncedDocument } from './documentAnnouncers';

/** The page socket as the bridges need it. */
export interface IFrameChannel {
  /** Emitted with every frame that is not about sessions. */
  readonly frameReceived: ISignal<unknown, ServerFrame>;
  /** Emitted after each successful hello, the first one and those after a reconnect. */
  readonly opened: ISignal<unknown, void>;
  /** Send a frame; false when the socket is closed. Documents are announced again when it reopens. */
  send(frame: PageFrame): boolean;
}

/** An open document: its announcements, and its file. */
export interface IOpenDocument<
  Announcement extends AnnouncedDocument,
  File extends IDocumentFile
> {
  readonly announcement: Announcement;
  readonly file: File;
}

/** Keeps a document and its file together. */
interface IDocumentFile extends IDisposable {
  /** Merge what others wrote into the document; returns whether anything changed. */
  mergeChanges(): Promise<boolean>;
}

type Reason = Exclude<DocumentRefused['reason'], 'failed'>;

/** The open documents of one kind in this page. */
export abstract class DocumentBridge<
  Context extends DocumentRegistry.IContext<DocumentRegistry.IModel>,
  Widget extends IDocumentWidget,
  Announcement extends AnnouncedDocument,
  File extends IDocumentFile
> implements IDisposable {
  /** `maxAnswers` limits the answers kept for repeated frames. */
  constructor(
    private readonly kind: 'document' | 'text',
    protected readonly channel: IFrameChannel,
    private readonly tracker: IWidgetTracker<Widget>,
    private readonly maxAnswers: number
  ) {
    channel.frameReceived.connect((_, frame) => this.onFrame(frame), this);
    channel.opened.connect(() => this.onOpened(), this);
    tracker.widgetAdded.connect((_, widget) => this.onAdded(widget), this);
    tracker.currentChanged.connect(this.focus, this);
    tracker.forEach(widget => this.onAdded(widget));
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      [...this.documents.keys()].forEach(this.close);
      Signal.clearData(this);
    }
  }

  /** The page has the focus: edits go to its current document. */
  readonly focus = (): void => {
    const widget = this.tracker.currentWidget;
    if (widget !== null) {
      this.documents.get(this.contextOf(widget))?.announcement.focus();
    }
  };

  /** The page may go away: announce the last keystrokes now. */
  readonly announceAll = (): void =>
    this.documents.forEach(({ announcement }) => announcement.announce());

  protected abstract contextOf(widget: Widget): Context;
  protected abstract create(
    context: Context
  ): IOpenDocument<Announcement, File>;
  protected abstract onFrame(frame: ServerFrame): void;
  /** A view's document is loaded and announced. */
  protected abstract onReady(widget: Widget): void;
  protected abstract onClosed(announcement: Announcement): void;
  /** Changes of the file were merged into its document. */
  protected onMerged?(path: string): void;

  protected onOpened(): void {
    for (const document of this.documents.values()) {
      document.announcement.claim();
      // The server may have written the file while this page was disconnected.
      void this.mergeFile(document);
    }
    this.focus();
  }

  protected onAdded(widget: Widget): void {
    widget.node.addEventListener('focusin', event => {
      const from = event.relatedTarget;
      if (!(from instanceof Node && widget.node.contains(from))) {
        this.focus();
      }
    });
    const context = this.contextOf(widget);
    void context.ready.then(() => {
      const isKnown = this.documents.has(context); // Another view of it.
      if (!context.isDisposed && !this.disposed && !isKnown) {
        this.openDocument(context);
      }
      this.onReady(widget);
    });
  }

  /** The first document at a path. */
  protected at(path: string): IOpenDocument<Announcement, File> | null {
    for (const document of this.documents.values()) {
      if (document.announcement.path === path) {
        return document;
      }
    }
    return null;
  }

  /** Call `act` for each document at a path. */
  protected forEachAt(
    path: string,
    act: (announcement: Announcement) => void
  ): void {
    for (const { announcement } of this.documents.values()) {
      if (announcement.path === path) {
        act(announcement);
      }
    }
  }

  /** The server wrote a file. */
  protected onSaved(path: string): void {
    for (const document of this.documents.values()) {
      if (document.announcement.path === path) {
        void this.mergeFile(document);
      }
    }
  }

  /** Call `answer` unless the document is closed or the request is for an earlier claim. */
  protected withClaim(
    frame: DocumentApply | DocumentRead | TextApply | TextRead,
    answer: (document: IOpenDocument<Announcement, File>) => PageFrame
  ): PageFrame {
    const document = this.at(frame.path);
    if (document === null) {
      return this.refuse(frame, 'not_open');
    }
    return document.announcement.epoch === frame.claim_epoch
      ? answer(document)
      : this.refuse(frame, 'epoch');
  }

  /**
   * Apply an operation and send the answer; a repeated frame gets the first answer again. Returns the answer, or null
   * for a repeated frame.
   */
  protected applyOnce(
    frame: DocumentApply | TextApply,
    apply: (document: IOpenDocument<Announcement, File>) => PageFrame
  ): PageFrame | null {
    const { operation_id, deadline_ms } = frame;
    const known = this.answers.get(operation_id);
    if (known !== undefined) {
      this.channel.send(known);
      return null;
    }
    const answer = this.withClaim(frame, document => {
      if (Date.now() > deadline_ms) {
        return this.refuse(frame, 'deadline');
      }
      return document.announcement.document.writable
        ? apply(document)
        : this.refuse(frame, 'read_only');
    });
    this.answers.set(operation_id, answer);
    const [oldest] = this.answers.keys();
    if (this.answers.size > this.maxAnswers && oldest !== undefined) {
      this.answers.delete(oldest);
    }
    this.channel.send(answer);
    return answer;
  }

  private openDocument(context: Context): void {
    const document = this.create(context);
    this.documents.set(context, document);
    context.disposed.connect(() => this.close(context), this);
    document.announcement.claim();
    if (this.tracker.currentWidget?.context === context) {
      document.announcement.focus();
    }
  }

  private readonly close = (context: Context): void => {
    const document = this.documents.get(context);
    this.documents.delete(context);
    if (document !== undefined) {
      document.announcement.dispose();
      document.file.dispose();
      this.onClosed(document.announcement);
    }
  };

  private async mergeFile({
    announcement,
    file
  }: IOpenDocument<Announcement, File>): Promise<void> {
    try {
      if (await file.mergeChanges()) {
        announcement.announce();
        this.onMerged?.(announcement.path);
      }
    } catch (error) {
      // JupyterLab asks the user when the next save finds another file.
      const { path } = announcement;
      console.warn(`The file ${path} could not be read again:`, error);
    }
  }

  private refuse(
    { operation_id, path }: { operation_id: string; path: string },
    reason: Reason
  ): PageFrame {
    const noun = this.kind === 'text' ? 'file' : 'notebook';
    const reasons: Record<Reason, string> = {
      epoch: `The request was made before the page announced the ${noun} again.`,
      deadline: 'The request reached the page too late.',
      not_open: `The ${noun} is not open in this page.`,
      read_only: `The ${noun} is read-only.`
    };
    const message = `${reasons[reason]} (${path})`;
    return { type: `${this.kind}-refused`, operation_id, reason, message };
  }

  /** Number of the next claim. */
  protected readonly nextEpoch = (): number => (this.epochs += 1);

  protected readonly documents = new Map<
    Context,
    IOpenDocument<Announcement, File>
  >();
  private readonly answers = new Map<string, PageFrame>();
  private epochs = 0;
  private disposed = false;
}
