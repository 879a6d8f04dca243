/**
 * The view of a Word document: reads it from the server, shows it, and follows its file. Loaded with the first
 * document; made by `WordDocument`.
 */

import '../../style/ui/controls.css';
import '../../style/documents/thread-marks.css';
import '../../style/documents/word.css';

import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';

import { sanitiseDocument } from '../chat/markdown/sanitise';
import { infoOf } from '../client/http';
import { flashElement } from '../follow/flash';
import type {
  IPageMark,
  IParagraphNote,
  ISelectionPosition,
  IWordPage
} from '../live-documents/wordPages';
import { legible } from '../text/hiddenCharacters';
import { serverText } from '../text/serverMessages';
import type {
  ServerFrame,
  TextRange,
  WordPage,
  WordParagraph
} from '../wire/generated';
import { CommentCards } from './commentCards';
import { PageBlocks } from './pageBlocks';
import { PageHeader, showMessage } from './pageHeader';
import { drawMarks, drawNotes, keyOfMarks } from './pageMarks';
import { PageSelection } from './pageSelection';
import { PageText, textOf } from './pageText';
import { showAuthors } from './trackedChanges';
import type { IWordServices } from './services';
import type { WordModel } from './wordModel';

/** Delay between two looks at the file, in ms. */
const FILE_CHECK = 2_000;
/** Share of the visible height above a revealed paragraph. */
const REVEAL_AT = 0.25;

/** What the view needs of its widget. */
export interface IPageViewParts extends IWordServices {
  /** The document was shown, the first time or again. */
  readonly shown: () => void;
  /** The selection changed. */
  readonly selected: () => void;
}

type Opened = Parameters<IWordPage['showMarks']>[1];
type Context = DocumentRegistry.IContext<WordModel>;

export class PageView implements IDisposable {
  constructor(
    root: HTMLElement,
    private readonly context: Context,
    private readonly parts: IPageViewParts
  ) {
    const { trans } = parts;
    this.header = new PageHeader(trans, {
      reload: () => void this.read(true),
      download: () => this.download(),
      openReview: parts.openReview
    });
    this.scroller.className = 'shoulders-Word-scroller';
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute('role', 'region');
    this.body.className = 'shoulders-Word-page';
    this.blocks = new PageBlocks(this.body);
    this.comments = new CommentCards(this.body, trans);
    this.scroller.append(this.body, this.comments.node);
    root.append(this.header.node, this.scroller);
    this.selecting = new PageSelection(
      { body: this.body, scroller: this.scroller, changed: parts.selected },
      () => this.text
    );
    parts.frames.connect(this.onFrame, this);
    this.rename();
    context.pathChanged.connect(this.rename, this);
    context.fileChanged.connect(this.onFile, this);
    this.poll = new Poll({
      auto: false,
      name: 'shoulders-word-file',
      factory: () => this.look(),
      frequency: { interval: FILE_CHECK, backoff: true, max: 60_000 },
      standby: () => document.hidden || this.scroller.offsetParent === null
    });
    showMessage(this.body, trans.__('Reading the document…'));
    void this.read(true).then(() => this.poll.start());
  }

  paragraphs: readonly WordParagraph[] = [];

  get isDisposed(): boolean {
    return this.poll.isDisposed;
  }

  get selection(): TextRange | null {
    return this.selecting.current();
  }

  selectionPosition(): ISelectionPosition | null {
    return this.selecting.position();
  }

  focus(): void {
    this.scroller.focus({ preventScroll: true });
  }

  /** Scroll to a range and flash its paragraphs. */
  reveal({ from }: TextRange): void {
    this.show(this.text?.elementAt(from) ?? null);
  }

  /** Scroll to a paragraph and flash it. */
  revealParagraph(number: number): void {
    this.show(this.text?.element(number) ?? null);
  }

  showMarks(marks: readonly IPageMark[], opened: Opened): void {
    this.marks = { marks, opened };
    const key = keyOfMarks(marks);
    if (this.text !== null && key !== this.drawnMarks) {
      this.drawnMarks = key;
      drawMarks(this.body, this.text, marks, opened);
    }
  }

  showNotes(notes: readonly IParagraphNote[]): void {
    this.notes = notes;
    if (this.text !== null) {
      drawNotes(this.body, this.text, notes);
      this.header.hasReview = notes.length > 0;
    }
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.poll.dispose();
      this.selecting.dispose();
      this.parts.frames.disconnect(this.onFrame, this);
      if (!this.context.isDisposed) {
        this.context.pathChanged.disconnect(this.rename, this);
        this.context.fileChanged.disconnect(this.onFile, this);
      }
    }
  }

  /** Read the document and show it if it is another one; `always` shows errors and repeats what failed. */
  private async read(always: boolean): Promise<void> {
    const path = this.context.localPath;
    this.reads += 1;
    const { reads } = this;
    this.header.isBusy = true;
    try {
      const query = new URLSearchParams({ path });
      const page = await this.parts.http.call<WordPage>(
        'GET',
        `word?${query.toString()}`
      );
      if (reads === this.reads && !this.isDisposed) {
        this.take(page);
      }
    } catch (error) {
      if (reads === this.reads && !this.isDisposed && always) {
        this.fail(error);
      }
    } finally {
      if (reads === this.reads) {
        this.header.isBusy = false;
      }
    }
  }

  private take(page: WordPage): void {
    if (page.version === this.version) {
      this.header.show(page);
      return;
    }
    const place = this.text === null ? null : this.topParagraph();
    this.version = page.version;
    this.paragraphs = page.paragraphs;
    const added = this.blocks.show(sanitiseDocument(page.html));
    added.forEach(block => showAuthors(block, this.parts.trans));
    if (
      this.body.textContent.trim() === '' &&
      !this.body.querySelector('img')
    ) {
      this.blocks.show(document.createDocumentFragment());
      showMessage(this.body, this.parts.trans.__('This document has no text.'));
    }
    this.context.model.setText(textOf(page.paragraphs));
    this.text = new PageText(this.body, page.paragraphs);
    this.comments.show(page.comments);
    this.header.show(page);
    this.drawnMarks = '';
    this.showMarks(this.marks.marks, this.marks.opened);
    this.showNotes(this.notes);
    this.restore(place);
    this.selecting.documentChanged();
    this.parts.shown();
  }

  private fail(error: unknown): void {
    const { message, hint } = infoOf(error);
    const { trans } = this.parts;
    const said = [message, hint ?? '']
      .filter(text => text !== '')
      .map(text => serverText(trans, text))
      .join(' ');
    this.header.fail(legible(said));
    if (this.text === null) {
      showMessage(
        this.body,
        trans.__('This document cannot be shown.'),
        legible(said)
      );
    }
  }

  /** The first visible paragraph and its distance from the top. */
  private topParagraph(): { number: number; top: number } | null {
    const { top } = this.scroller.getBoundingClientRect();
    for (const { number } of this.paragraphs) {
      const box = this.text?.element(number)?.getBoundingClientRect();
      if (box !== undefined && box.bottom > top) {
        return { number, top: box.top - top };
      }
    }
    return null;
  }

  /** Scroll back to a paragraph. Blocks get their heights when they come into view, so once more after that. */
  private restore(place: { number: number; top: number } | null): void {
    const moveTo = (): void => {
      const box = place && this.text?.element(place.number);
      if (place !== null && box) {
        const { top } = this.scroller.getBoundingClientRect();
        const moved = box.getBoundingClientRect().top - top - place.top;
        this.scroller.scrollTop += moved;
      }
    };
    moveTo();
    requestAnimationFrame(moveTo);
  }

  private show(element: Element | null): void {
    if (element !== null) {
      const { top, height } = this.scroller.getBoundingClientRect();
      const at = element.getBoundingClientRect().top - top;
      this.scroller.scrollTop += at - height * REVEAL_AT;
      flashElement(element);
    }
  }

  private download(): void {
    void this.parts.files.getDownloadUrl(this.context.path).then(url => {
      const link = document.createElement('a');
      link.href = url;
      link.download = this.context.localPath.split('/').at(-1) ?? '';
      link.click();
    });
  }

  /** Read the document again if its file has changed. */
  private async look(): Promise<void> {
    const file = await this.parts.files.get(this.context.path, {
      content: false
    });
    const stamp = `${file.last_modified} ${file.size ?? ''}`;
    const isOther = this.stamp !== '' && stamp !== this.stamp;
    this.stamp = stamp;
    if (isOther) {
      await this.read(false);
    }
  }

  /** The agent changed a document, or the user decided on a change. */
  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type === 'edits-update') {
      void this.read(false);
    }
  };

  private readonly onFile = (): void => void this.read(false);

  private readonly rename = (): void => {
    const name = legible(this.context.localPath.split('/').at(-1) ?? '');
    this.scroller.setAttribute('aria-label', name);
  };

  private readonly header: PageHeader;
  private readonly scroller = document.createElement('div');
  private readonly body = document.createElement('div');
  private readonly blocks: PageBlocks;
  private readonly comments: CommentCards;
  private readonly selecting: PageSelection;
  private readonly poll: Poll;
  private text: PageText | null = null;
  private version = '';
  private stamp = '';
  private reads = 0;
  private drawnMarks = '';
  private marks: { marks: readonly IPageMark[]; opened: Opened } = {
    marks: [],
    opened: () => undefined
  };
  private notes: readonly IParagraphNote[] = [];
}
