/**
 * Announces the text files open in this page's editors to the server and answers its requests on them. Made by the
 * texts plugin; one per page. See docs/design/notebooks.md.
 */

import type { EditorView } from '@codemirror/view';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import { Signal, type ISignal } from '@lumino/signaling';

import type {
  PageFrame,
  ServerFrame,
  TextApply,
  TextRead
} from '../wire/generated';
import { DocumentBridge, type IFrameChannel } from './documentBridge';
import type { IFiles } from './file-sync/fileSync';
import { OpenText, type TextContext } from './file-sync/openText';
import { TextAnnouncer } from './documentAnnouncers';
import { TextFileSync, type AskTextConflict } from './file-sync/textFileSync';

const MAX_ANSWERS = 50;

/** The parts of JupyterLab the bridge needs. */
export interface ITextLab {
  readonly editors: IEditorTracker;
  readonly files: IFiles;
  /** Asks the user about lines that were changed here and in the file. */
  readonly askConflict: AskTextConflict;
}

/** The text files open in this page's editors, for code that shows something in them. */
export interface IOpenTexts {
  /** Emitted when a file was opened, closed or renamed. */
  readonly changed: ISignal<IOpenTexts, void>;
  /** The open text at a path; null when no editor shows it. */
  find(path: string): OpenText | null;
  /** The CodeMirror views of a file; all share one text and one undo. */
  views(path: string): EditorView[];
  /** The path of the file that a view shows; null for other editors, such as cells. */
  pathOf(view: EditorView): string | null;
  /** Save a file now, after merging changes of others. */
  save(path: string): Promise<void>;
}

type EditorWidget = IDocumentWidget<FileEditor>;

/** The page's side of the live-document protocol for text files. */
export class TextBridge
  extends DocumentBridge<TextContext, EditorWidget, TextAnnouncer, TextFileSync>
  implements IOpenTexts
{
  constructor(
    channel: IFrameChannel,
    private readonly lab: ITextLab
  ) {
    super('text', channel, lab.editors, MAX_ANSWERS);
  }

  readonly changed = new Signal<this, void>(this);

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

  protected override onAdded(widget: EditorWidget): void {
    super.onAdded(widget);
    widget.disposed.connect(() => this.changed.emit());
  }

  protected override contextOf(widget: EditorWidget): TextContext {
    // A file editor shows a code model; the type of its widget says only that it is a model.
    return widget.context as unknown as TextContext;
  }

  protected override create(context: TextContext) {
    const text = new OpenText(context);
    void this.loadLineChanges(text);
    context.pathChanged.connect(() => this.changed.emit(), this);
    return {
      announcement: new TextAnnouncer(
        text,
        frame => this.channel.send(frame),
        this.nextEpoch
      ),
      file: new TextFileSync(text, this.lab.files, this.lab.askConflict)
    };
  }

  protected override onReady(): void {
    this.changed.emit();
  }

  protected override onClosed(): void {
    this.changed.emit();
  }

  /** Loaded with the first text: pages without one need it not. */
  private async loadLineChanges(text: OpenText): Promise<void> {
    try {
      const { lineChanges } = await import('../text/merge');
      text.lineChanges = lineChanges;
    } catch (error) {
      console.warn(`Changes of ${text.path} are made in one piece:`, error);
    }
  }

  protected override onFrame(frame: ServerFrame): void {
    if (frame.type === 'text-read') {
      this.channel.send(this.read(frame));
    } else if (frame.type === 'text-apply') {
      const answer = this.applyOnce(frame, ({ announcement }) =>
        apply(announcement.text, frame)
      );
      if (answer?.type === 'text-applied') {
        this.onApplied(frame.path, answer.saves);
      }
    } else if (frame.type === 'text-saved') {
      this.onSaved(frame.path);
    }
  }

  private read(frame: TextRead): PageFrame {
    return this.withClaim(frame, ({ announcement: { text } }) => ({
      type: 'text-content',
      operation_id: frame.operation_id,
      path: frame.path,
      text: text.text,
      dirty: text.dirty
    }));
  }

  /** What was clean is saved; the user finds it as it was, but for the change. */
  private onApplied(path: string, saves: boolean): void {
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
}

function viewOf(widget: EditorWidget): EditorView {
  // JupyterLab's only editor is CodeMirror, which has its view as `editor`.
  return (widget.content.editor as unknown as { editor: EditorView }).editor;
}

function apply(
  text: OpenText,
  { operation_id, expected, text: replacement }: TextApply
): PageFrame {
  if (text.version !== expected) {
    return {
      type: 'text-conflict',
      operation_id,
      text: text.text,
      dirty: text.dirty
    };
  }
  const saves = !text.dirty && !text.context.model.collaborative;
  text.replace(replacement);
  return {
    type: 'text-applied',
    operation_id,
    version: text.version,
    saves: saves && text.dirty
  };
}
