/**
 * Draws the marks of threads in open documents: in editors for threads about text, beside prompts for threads about a
 * cell or an output. Made by `ThreadsController`.
 */

import { CodeCell, type Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { EditorView } from '@codemirror/view';
import type { ISignal } from '@lumino/signaling';

import type { FilePanel } from '../../live-documents/openEditTargets';
import type { IWordPage } from '../../live-documents/wordPages';
import type { Session } from '../../wire/generated';
import { drawNodeMark, type INodeMark } from './cellMarks';
import {
  EditorMarks,
  type IDot,
  type ITextMark,
  type ITextMarkListener
} from './editorMarks';
import type {
  IThreadLocation,
  IThreadLocations
} from '../../host/threadLocations';
import { classesOf, labelOf, markOf, type IThreadMark } from './markAppearance';
import {
  isTextHidden,
  OpenDocuments,
  type IOpenDocumentsOptions
} from './openDocuments';
import { outputAt } from '../anchors/cellOutputs';

export interface IThreadMarksOptions extends IOpenDocumentsOptions {
  readonly locations: IThreadLocations;
  /** All known sessions by id. */
  readonly sessions: {
    readonly all: readonly Session[];
    readonly changed: ISignal<unknown, void>;
  };
  readonly trans: TranslationBundle;
  /** The mark of some threads was clicked. */
  readonly opened: ITextMarkListener['opened'];
  /** The number of a cell's threads changed. */
  readonly recounted: () => void;
}

/** The marks of this page. */
export class ThreadMarks {
  constructor(private readonly options: IThreadMarksOptions) {
    const { opened, locations, sessions } = options;
    this.editors = new EditorMarks({
      opened,
      settled: () => this.drawLater(),
      dotOf: ids => this.dotOf(ids)
    });
    this.documents = new OpenDocuments(options, this.editors.extension);
    this.documents.changed.connect(this.drawLater);
    locations.changed.connect(this.drawLater);
    sessions.changed.connect(this.drawLater);
    this.drawLater();
  }

  /** The marked threads of a document in text order. */
  in(document: string): readonly IThreadMark[] {
    return this.byDocument.get(document) ?? [];
  }

  /** Run once per animation frame. */
  private readonly drawLater = (): void => {
    if (!this.isWaiting) {
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.draw();
      });
    }
  };

  private draw(): void {
    const { notebooks, files, pages } = this.documents;
    this.read(
      [...notebooks, ...files, ...pages].map(({ context }) => context.localPath)
    );
    notebooks.forEach(panel => this.drawNotebook(panel));
    files.forEach(panel => this.drawFile(panel));
    pages.forEach(page => this.drawPage(page));
  }

  /** Read the threads of some documents. */
  private read(documents: readonly string[]): void {
    const { locations, sessions } = this.options;
    const known = new Map(sessions.all.map(session => [session.id, session]));
    this.byDocument = new Map(
      documents.map(document => [
        document,
        locations.in(document).flatMap(place => {
          const mark = markOf(place, known.get(place.sessionId));
          return mark === null ? [] : [this.reuseMark(mark)];
        })
      ])
    );
    const before = this.byId;
    this.byId = new Map(
      [...this.byDocument.values()]
        .flat()
        .map(mark => [mark.location.sessionId, mark])
    );
    if (isRecounted(before, this.byId)) {
      this.options.recounted();
    }
  }

  /** The mark drawn before, if it is equal. */
  private reuseMark(mark: IThreadMark): IThreadMark {
    const before = this.byId.get(mark.location.sessionId);
    return before?.location === mark.location &&
      before.state === mark.state &&
      before.title === mark.title
      ? before
      : mark;
  }

  private drawFile(panel: FilePanel): void {
    const marks = this.in(panel.context.localPath);
    if (marks.length > 0 || this.marked.has(panel)) {
      this.marked.add(panel);
      this.drawText(this.documents.viewIn(panel), marks);
    }
  }

  private drawPage(page: IWordPage): void {
    const marks = this.in(page.path).flatMap(mark => this.textMark(mark) ?? []);
    page.showMarks(marks, this.options.opened);
  }

  private drawNotebook(panel: NotebookPanel): void {
    const marks = this.in(panel.context.localPath);
    const before = this.shown.get(panel);
    if (marks.length === 0 && before === undefined) {
      return;
    }
    const { widgets } = panel.content;
    const byCell = grouped(marks, ({ location }) =>
      this.cellOf(location, widgets)
    );
    const drawn = widgets.filter(
      cell => byCell.has(cell) || before?.has(cell) === true
    );
    drawn.forEach(cell => this.drawCell(panel, cell, byCell.get(cell) ?? []));
    // A cell outside the viewport keeps its marks.
    const isKept = (cell: Cell): boolean =>
      byCell.has(cell) || this.cells.get(cell)?.marks.length !== 0;
    this.shown.set(panel, new Set(drawn.filter(isKept)));
  }

  /** The cell of a location; several cells can have its id. A moved or renumbered location has another cell. */
  private cellOf(place: IThreadLocation, cells: readonly Cell[]): Cell | null {
    const { anchor, number } = place;
    const there = number === null ? undefined : cells[number - 1];
    const known = this.cellOfLocation.get(place);
    if (known !== undefined && known === there) {
      return known;
    }
    const isIt = (cell: Cell | undefined): boolean =>
      cell?.model.id === anchor.cell_id;
    const cell = isIt(there) ? there : cells.find(isIt);
    if (cell !== undefined) {
      this.cellOfLocation.set(place, cell);
    }
    return cell ?? null;
  }

  /** Draw the marks of a cell unless they are drawn already or out of sight. */
  private drawCell(
    panel: NotebookPanel,
    cell: Cell,
    marks: readonly IThreadMark[]
  ): void {
    this.documents.follow(cell, panel);
    if (!this.documents.isNear(cell)) {
      return;
    }
    const state = this.documents.stateOf(cell);
    const before = this.cells.get(cell);
    if (before?.state !== state || !isSameList(before.marks, marks)) {
      const isDrawn = this.drawMarks(cell, marks);
      this.cells.set(cell, { marks, state: isDrawn ? state : -1 });
    }
  }

  /** Returns whether the marks could be drawn. */
  private drawMarks(cell: Cell, marks: readonly IThreadMark[]): boolean {
    const isInText = ({ location: { anchor } }: IThreadMark): boolean =>
      anchor.target === 'source' && anchor.range !== null;
    const inText = isTextHidden(cell) ? [] : marks.filter(isInText);
    const isDrawn = this.drawText(this.documents.viewIn(cell), inText);
    const others = marks.filter(mark => !inText.includes(mark));
    const rest = this.drawOutputs(cell, others);
    drawNodeMark(cell.node, this.nodeMark(rest), this.options);
    return isDrawn;
  }

  /** Mark the outputs of threads; threads whose output is missing are marked at the cell. */
  private drawOutputs(
    cell: Cell,
    marks: readonly IThreadMark[]
  ): readonly IThreadMark[] {
    if (!(cell instanceof CodeCell)) {
      return marks;
    }
    const byOutput = grouped(marks, ({ location: { anchor } }) =>
      anchor.target === 'output'
        ? outputAt(cell.outputArea.model, anchor).index
        : null
    );
    cell.outputArea.widgets.forEach(({ node }, index) => {
      const own = this.nodeMark(byOutput.get(index) ?? []);
      drawNodeMark(node, own, this.options);
    });
    return byOutput.get(null) ?? [];
  }

  private drawText(
    view: EditorView | null,
    marks: readonly IThreadMark[]
  ): boolean {
    if (view === null) {
      return true;
    }
    const end = view.state.doc.length;
    return this.editors.show(
      view,
      marks.flatMap(mark => {
        const text = this.textMark(mark);
        // The editor receives the text of a location in the same task, except for text being composed.
        return text === null || text.to > end ? [] : [text];
      })
    );
  }

  private textMark(mark: IThreadMark): ITextMark | null {
    const { anchor, sessionId } = mark.location;
    const { trans } = this.options;
    return (
      anchor.range && {
        id: sessionId,
        ...anchor.range,
        classes: classesOf([mark]),
        label: labelOf([mark], trans)
      }
    );
  }

  private nodeMark(marks: readonly IThreadMark[]): INodeMark | null {
    const ids = marks.map(({ location }) => location.sessionId);
    return ids.length === 0 ? null : { ids, ...this.dotOf(ids) };
  }

  private dotOf(ids: readonly string[]): IDot {
    const marks = ids.flatMap(id => this.byId.get(id) ?? []);
    return {
      classes: classesOf(marks),
      label: labelOf(marks, this.options.trans)
    };
  }

  private readonly editors: EditorMarks;
  private readonly documents: OpenDocuments;
  /** The marked cells of each notebook. */
  private readonly shown = new WeakMap<NotebookPanel, ReadonlySet<Cell>>();
  private readonly marked = new WeakSet<FilePanel>();
  /** The marks drawn for each cell. */
  private readonly cells = new WeakMap<
    Cell,
    { readonly marks: readonly IThreadMark[]; readonly state: number }
  >();
  private byDocument: ReadonlyMap<string, readonly IThreadMark[]> = new Map();
  private byId: ReadonlyMap<string, IThreadMark> = new Map();
  private readonly cellOfLocation = new WeakMap<IThreadLocation, Cell>();
  private isWaiting = false;
}

/** Whether the number of a cell's threads changed. */
function isRecounted(
  before: ReadonlyMap<string, IThreadMark>,
  after: ReadonlyMap<string, IThreadMark>
): boolean {
  return (
    before.size !== after.size ||
    [...after].some(([id, mark]) => {
      const old = before.get(id);
      return old !== mark && !isSameCell(old, mark);
    })
  );
}

function isSameCell(one: IThreadMark | undefined, other: IThreadMark): boolean {
  const { document, cell_id } = other.location.anchor;
  const anchor = one?.location.anchor;
  return anchor?.document === document && anchor.cell_id === cell_id;
}

function grouped<Key>(
  marks: readonly IThreadMark[],
  keyOf: (mark: IThreadMark) => Key
): Map<Key, IThreadMark[]> {
  const groups = new Map<Key, IThreadMark[]>();
  for (const mark of marks) {
    const key = keyOf(mark);
    groups.set(key, [...(groups.get(key) ?? []), mark]);
  }
  return groups;
}

function isSameList(
  ones: readonly IThreadMark[],
  others: readonly IThreadMark[]
): boolean {
  return (
    ones.length === others.length &&
    ones.every((one, index) => one === others[index])
  );
}
