/**
 * The widget of a Word document. Its view is loaded with the first one; until then it only keeps what to show. Made by
 * `WordPageFactory`.
 */

import type {
  DocumentRegistry,
  IDocumentWidget
} from '@jupyterlab/docregistry';
import { PromiseDelegate } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type {
  IPageMark,
  IParagraphNote,
  ISelectionPosition,
  IWordPage
} from '../live-documents/wordPages';
import type { TextRange, WordParagraph } from '../wire/generated';
import type { PageView } from './pageView';
import type { IWordServices } from './services';
import type { WordModel } from './wordModel';

type Opened = Parameters<IWordPage['showMarks']>[1];

/** One view of a Word document. */
export class WordDocument extends Widget implements IWordPage {
  constructor(
    readonly context: DocumentRegistry.IContext<WordModel>,
    private readonly services: IWordServices
  ) {
    super();
    this.addClass('shoulders-Word');
    context.pathChanged.connect(this.onChanged, this);
    this.ready().catch((error: unknown) => {
      this.node.textContent = services.trans.__(
        'The page could not be loaded. Reload the browser.'
      );
      console.error('A Word page could not be loaded:', error);
    });
  }

  /** Emitted when the document was shown again or has a new path. */
  readonly changed = new Signal<this, void>(this);
  readonly selectionChanged = new Signal<this, void>(this);

  /** Set by the factory, which makes this widget first. */
  widget!: IDocumentWidget;

  get path(): string {
    return this.context.localPath;
  }

  get text(): string {
    return this.context.model.text;
  }

  get paragraphs(): readonly WordParagraph[] {
    return this.view?.paragraphs ?? [];
  }

  get loaded(): Promise<void> {
    return this.shown.promise;
  }

  get selection(): TextRange | null {
    return this.view?.selection ?? null;
  }

  selectionPosition(): ISelectionPosition | null {
    return this.view?.selectionPosition() ?? null;
  }

  reveal(range: TextRange): void {
    void this.loaded.then(() => this.view?.reveal(range));
  }

  revealParagraph(number: number): void {
    void this.loaded.then(() => this.view?.revealParagraph(number));
  }

  showMarks(marks: readonly IPageMark[], opened: Opened): void {
    this.marks = { marks, opened };
    this.view?.showMarks(marks, opened);
  }

  showNotes(notes: readonly IParagraphNote[]): void {
    this.notes = notes;
    this.view?.showNotes(notes);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.view?.dispose();
      Signal.clearData(this);
      super.dispose();
    }
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.view?.focus();
  }

  private async ready(): Promise<void> {
    const [{ PageView }] = await Promise.all([
      import('./pageView'),
      this.context.ready
    ]);
    if (this.isDisposed) {
      return;
    }
    const view = new PageView(this.node, this.context, {
      ...this.services,
      shown: () => {
        this.shown.resolve();
        this.onChanged();
      },
      selected: () => this.selectionChanged.emit()
    });
    this.view = view;
    view.showMarks(this.marks.marks, this.marks.opened);
    view.showNotes(this.notes);
  }

  private readonly onChanged = (): void => this.changed.emit();

  private view: PageView | null = null;
  private readonly shown = new PromiseDelegate<void>();
  private marks: { marks: readonly IPageMark[]; opened: Opened } = {
    marks: [],
    opened: () => undefined
  };
  private notes: readonly IParagraphNote[] = [];
}
