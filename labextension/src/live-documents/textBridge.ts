/**
 * Announces the text files open in this page's editors to the server and answers its requests on them
 * (chapters 06 and 07). Started by the texts plugin; one per page.
 */

import type { EditorView } from '@codemirror/view';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import type {
  PageFrame,
  ServerFrame,
  TextApply,
  TextRead,
  TextRefused
} from '../wire/generated';
import type { IFrameChannel } from './notebookBridge';
import type { IFiles } from './file-sync/notebookFileSync';
import { OpenText, type TextContext } from './file-sync/openText';
import { TextAnnouncer } from './textAnnouncer';
import { TextFileSync, type AskTextConflict } from './file-sync/textFileSync';

const MAX_ANSWERS = 50;

const REASONS: Record<TextRefused['reason'], string> = {
  epoch: 'The request was made before the page announced the file again.',
  deadline: 'The request reached the page too late.',
  not_open: 'The file is not open in this page.',
  read_only: 'The file is read-only.',
  failed: 'The page could not do it.'
};

/** What the bridge needs of the lab. */
export interface ITextLab {
  readonly editors: IEditorTracker;
  readonly files: IFiles;
  /** Asks what becomes of lines that were changed here and in the file. */
  readonly askClash: AskTextConflict;
}

/** The text files open in this page's editors, for those who show something in them. */
export interface IOpenTexts {
  /** Emitted when a file was opened or closed, or has another path. */
  readonly changed: ISignal<IOpenTexts, void>;
  /** The open text at a path; null when no editor has it. */
  find(path: string): OpenText | null;
  /** The CodeMirror views that show a file; all share one text and one undo. */
  views(path: string): EditorView[];
  /** The path of the file that a view shows; null for other editors, those of cells too. */
  pathOf(view: EditorView): string | null;
  /** Save a file now, as after an edit of the agent: others' changes are taken up before. */
  save(path: string): Promise<void>;
}

/** A text of this page: what is announced of it, and its file. */
interface IDocument {
  readonly announcement: TextAnnouncer;
  readonly file: TextFileSync;
}

type EditorWidget = IDocumentWidget<FileEditor>;

/** The page's side of the live-document protocol for text files. */
export class TextBridge implements IOpenTexts, IDisposable {
  constructor(
    private readonly channel: IFrameChannel,
    private readonly lab: ITextLab
  ) {
    channel.frameReceived.connect(this.onFrame, this);
    channel.opened.connect(this.onOpened, this);
    lab.editors.widgetAdded.connect(this.onAdded, this);
    lab.editors.currentChanged.connect(this.focus, this);
    lab.editors.forEach(widget => this.onAdded(lab.editors, widget));
  }

  readonly changed = new Signal<this, void>(this);

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

  /** The user looks at this page: edits go to the file in front. */
  readonly focus = (): void => {
    const widget = this.lab.editors.currentWidget;
    if (widget !== null) {
      this.documents.get(contextOf(widget))?.announcement.focus();
    }
  };

  /** The page may go away: announce the last keystrokes now. */
  readonly leave = (): void =>
    this.documents.forEach(({ announcement }) => announcement.announce());

  find(path: string): OpenText | null {
    return this.at(path)?.announcement.text ?? null;
  }

  views(path: string): EditorView[] {
    return this.lab.editors
      .filter(({ context }) => context.localPath === path)
      .map(viewOf);
  }

  pathOf(view: EditorView): string | null {
    const widget = this.lab.editors.find(item => viewOf(item) === view);
    return widget?.context.localPath ?? null;
  }

  async save(path: string): Promise<void> {
    await this.at(path)?.file.save();
  }

  private readonly onOpened = (): void => {
    for (const { announcement, file } of this.documents.values()) {
      announcement.open();
      // The server may have written the file while this page was away.
      void this.takeUp(announcement, file);
    }
    this.focus();
  };

  private readonly onAdded = (_: unknown, widget: EditorWidget): void => {
    widget.node.addEventListener('focusin', event => {
      const from = event.relatedTarget;
      if (!(from instanceof Node && widget.node.contains(from))) {
        this.focus();
      }
    });
    const context = contextOf(widget);
    void context.ready.then(() => {
      const isKnown = this.documents.has(context); // Another view of it.
      if (!context.isDisposed && !this.disposed && !isKnown) {
        this.openDocument(context);
      }
      this.changed.emit();
    });
    widget.disposed.connect(() => this.changed.emit());
  };

  private openDocument(context: TextContext): void {
    const text = new OpenText(context);
    void this.learnLines(text);
    const announcement = new TextAnnouncer(
      text,
      frame => this.channel.send(frame),
      () => {
        this.epochs += 1;
        return this.epochs;
      }
    );
    const file = new TextFileSync(text, this.lab.files, this.lab.askClash);
    this.documents.set(context, { announcement, file });
    context.disposed.connect(this.close, this);
    context.pathChanged.connect(() => this.changed.emit(), this);
    announcement.open();
    if (this.lab.editors.currentWidget?.context === context) {
      announcement.focus();
    }
  }

  /** Loaded with the first text: pages without one need it not. */
  private async learnLines(text: OpenText): Promise<void> {
    try {
      const { lineChanges } = await import('../text/merge');
      text.lineChanges = lineChanges;
    } catch (error) {
      console.warn(`Changes of ${text.path} are made in one piece:`, error);
    }
  }

  private readonly close = (context: TextContext): void => {
    const item = this.documents.get(context);
    this.documents.delete(context);
    if (item !== undefined) {
      item.announcement.dispose();
      item.file.dispose();
      this.changed.emit();
    }
  };

  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type === 'text-read') {
      this.channel.send(this.read(frame));
    } else if (frame.type === 'text-apply') {
      this.apply(frame);
    } else if (frame.type === 'text-saved') {
      for (const { announcement, file } of this.documents.values()) {
        if (announcement.path === frame.path) {
          void this.takeUp(announcement, file);
        }
      }
    }
  };

  private async takeUp(open: TextAnnouncer, file: TextFileSync): Promise<void> {
    try {
      if (await file.takeUp()) {
        open.announce();
      }
    } catch (error) {
      // The lab asks the user when the next save finds another file.
      console.warn(`The file ${open.path} could not be read again:`, error);
    }
  }

  private at(path: string): IDocument | null {
    for (const item of this.documents.values()) {
      if (item.announcement.path === path) {
        return item;
      }
    }
    return null;
  }

  private read(frame: TextRead): PageFrame {
    const item = this.at(frame.path);
    const refusal = refusalOf(item, frame);
    if (item === null || refusal !== null) {
      return refusal ?? refused(frame, 'not_open');
    }
    const { text } = item.announcement;
    return {
      type: 'text-content',
      operation_id: frame.operation_id,
      path: frame.path,
      text: text.text,
      dirty: text.dirty
    };
  }

  /** Apply once: a repeated frame gets the first answer again. */
  private apply(frame: TextApply): void {
    const before = this.answers.get(frame.operation_id);
    const answer = before ?? this.applyNew(frame);
    if (before === undefined) {
      this.answers.set(frame.operation_id, answer);
      const [oldest] = this.answers.keys();
      if (this.answers.size > MAX_ANSWERS && oldest !== undefined) {
        this.answers.delete(oldest);
      }
    }
    this.channel.send(answer);
    if (before === undefined && answer.type === 'text-applied') {
      this.applied(frame.path, answer.saves);
    }
  }

  private applyNew(frame: TextApply): PageFrame {
    const { operation_id, path } = frame;
    const item = this.at(path);
    const refusal = refusalOf(item, frame);
    if (item === null || refusal !== null) {
      return refusal ?? refused(frame, 'not_open');
    }
    if (Date.now() > frame.deadline_ms) {
      return refused(frame, 'deadline');
    }
    const { text } = item.announcement;
    if (!text.writable) {
      return refused(frame, 'read_only');
    }
    if (text.version !== frame.expected) {
      return {
        type: 'text-conflict',
        operation_id,
        text: text.text,
        dirty: text.dirty
      };
    }
    const saves = !text.dirty && !text.context.model.collaborative;
    text.replace(frame.text);
    return {
      type: 'text-applied',
      operation_id,
      version: text.version,
      saves: saves && text.dirty
    };
  }

  /** What was clean is saved; the user finds it as it was, but for the change. */
  private applied(path: string, saves: boolean): void {
    const item = this.at(path);
    item?.announcement.announce();
    if (saves) {
      item?.file
        .save()
        .catch((error: unknown) =>
          console.warn(`${path} was changed but not saved:`, error)
        );
    }
  }

  private readonly documents = new Map<TextContext, IDocument>();
  private readonly answers = new Map<string, PageFrame>();
  private epochs = 0;
  private disposed = false;
}

function viewOf(widget: EditorWidget): EditorView {
  // The lab's only editor is CodeMirror, which has its view as `editor`.
  return (widget.content.editor as unknown as { editor: EditorView }).editor;
}

function contextOf(widget: EditorWidget): TextContext {
  // What a file editor shows is a code model; the type of its widget says only that it is a model.
  return widget.context as unknown as TextContext;
}

function refusalOf(
  item: IDocument | null,
  frame: TextApply | TextRead
): TextRefused | null {
  if (item === null) {
    return refused(frame, 'not_open');
  }
  return item.announcement.epoch === frame.claim_epoch
    ? null
    : refused(frame, 'epoch');
}

function refused(
  { operation_id, path }: TextApply | TextRead,
  reason: TextRefused['reason']
): TextRefused {
  return {
    type: 'text-refused',
    operation_id,
    reason,
    message: `${REASONS[reason]} (${path})`
  };
}
