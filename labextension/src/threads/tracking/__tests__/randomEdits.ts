/**
 * Random changes of a shared notebook, and a model of where each character went: the reference for the tracker tests.
 * Does not use the tracker.
 */

import { YNotebook } from '@jupyter/ydoc';

/** The expected state of a cell: each character has a number that stays with it. */
interface ICell {
  id: string;
  text: string;
  marks: number[];
}

/** Pseudo-random numbers from 0 to 1 for a seed. */
export function random(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 3266489917);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 4294967296;
  };
}

/** A notebook under random changes. */
export class RandomEdits {
  constructor(
    seed: number,
    /** Makes text: similar lines, or no character twice. */
    private readonly words: (next: () => number) => string,
    cells: number
  ) {
    this.next = random(seed);
    for (let count = 0; count < cells; count += 1) {
      this.insertCell(count, Array.from({ length: 4 }, this.line).join('\n'));
    }
    this.notebook.clearUndoHistory();
  }

  /** Whether a text was replaced as a whole and partly rewritten. */
  isRewritten = false;
  readonly notebook = new YNotebook({ disableDocumentWideUndoRedo: true });
  cells: ICell[] = [];

  /** Make a random change; returns its description. */
  step(): string {
    this.remember();
    this.known = this.count;
    const act = this.pick(ACTS);
    this.isRewritten = act === 'reshape' || act === 'rewrite';
    this.notebook.undoManager.stopCapturing();
    this.notebook.cells.forEach(cell => cell.undoManager?.stopCapturing());
    this[act]();
    return act;
  }

  /** Whether the position of every character is known. */
  get isKnown(): boolean {
    return this.isAsExpected && this.isSure && !this.hasDuplicates;
  }

  /** Whether the notebook equals the expected state. */
  private get isAsExpected(): boolean {
    return (
      JSON.stringify(this.cells.map(({ id, text }) => [id, text])) ===
      JSON.stringify(this.shown())
    );
  }

  pick<T>(list: readonly T[]): T {
    const item = list[Math.floor(this.next() * list.length)];
    if (item === undefined) {
      throw new Error('Nothing to pick from');
    }
    return item;
  }

  upTo(most: number): number {
    return Math.floor(this.next() * (most + 1));
  }

  private readonly line = (): string => this.words(this.next);

  type(): void {
    this.change(0);
  }

  remove(): void {
    const cell = this.pick(this.cells);
    const from = this.upTo(cell.text.length);
    this.edit(cell, from, Math.min(cell.text.length, from + this.upTo(20)), '');
  }

  replace(): void {
    this.change(12);
  }

  split(): void {
    const cell = this.pick(this.cells);
    const at = this.upTo(cell.text.length);
    const index = this.cells.indexOf(cell);
    const [head, tail] = [part(cell, 0, at), part(cell, at, Infinity)];
    const id = this.newId();
    const shared = this.shared(cell);
    this.notebook.transact(() => {
      this.notebook.insertCell(index, code(id, head.text));
      shared.setSource(tail.text);
    });
    this.cells.splice(index, 1, { id, ...head }, { id: cell.id, ...tail });
  }

  merge(): void {
    const index = this.upTo(this.cells.length - 2);
    const [one, other] = [this.cells[index], this.cells[index + 1]];
    if (one === undefined || other === undefined) {
      return;
    }
    const id = this.newId();
    const text = `${one.text}\n\n${other.text}`;
    this.notebook.transact(() => {
      this.notebook.deleteCell(index);
      this.notebook.insertCell(index, code(id, text));
      this.notebook.deleteCell(index + 1);
    });
    const marks = [...one.marks, ...this.marks(2), ...other.marks];
    this.cells.splice(index, 2, { id, text, marks });
  }

  move(): void {
    const from = this.upTo(this.cells.length - 1);
    const to = this.upTo(this.cells.length - 1);
    if (from !== to) {
      this.notebook.moveCell(from, to);
      this.cells.splice(to, 0, ...this.cells.splice(from, 1));
    }
  }

  cut(): void {
    if (this.cells.length < 3) {
      return;
    }
    const index = this.upTo(this.cells.length - 1);
    this.notebook.deleteCell(index);
    this.held = this.cells.splice(index, 1)[0] ?? null;
  }

  paste(): void {
    const { held } = this;
    if (held !== null) {
      const index = this.upTo(this.cells.length);
      const id = this.newId();
      this.notebook.insertCell(index, code(id, held.text));
      this.cells.splice(index, 0, { ...held, id });
      this.held = null;
    }
  }

  indent(): void {
    const cell = this.pick(this.cells);
    const text = cell.text.replace(/^(?=.)/gm, '  ');
    let old = 0;
    const marks = Array.from(text, letter => {
      while (letter !== ' ' && cell.text[old] === ' ') {
        old += 1;
      }
      const mark = letter === ' ' ? undefined : cell.marks[old];
      old += letter === ' ' ? 0 : 1;
      return mark ?? this.mark();
    });
    this.shared(cell).setSource(text);
    Object.assign(cell, { text, marks });
  }

  rewrite(): void {
    const cell = this.pick(this.cells);
    const [at, line] = [this.upTo(cell.text.length), `\n${this.line()}\n`];
    const text = cell.text.slice(0, at) + line + cell.text.slice(at);
    this.shared(cell).setSource(text);
    cell.marks.splice(at, 0, ...this.marks(line.length));
    cell.text = text;
  }

  reshape(): void {
    const cell = this.pick(this.cells);
    for (let count = 0; count < 3; count += 1) {
      const from = this.upTo(cell.text.length);
      const to = Math.min(cell.text.length, from + this.upTo(14));
      const text = this.next() < 0.5 ? `\n${this.line()}\n` : '';
      cell.marks.splice(from, to - from, ...this.marks(text.length));
      cell.text = cell.text.slice(0, from) + text + cell.text.slice(to);
    }
    this.shared(cell).setSource(cell.text);
  }

  undo(): void {
    this.pick(this.undoable()).undo();
    this.restoreUndone();
  }

  redo(): void {
    this.pick(this.undoable()).redo();
    this.restoreUndone();
  }

  insertCell(index: number, text: string): void {
    const id = this.newId();
    this.notebook.insertCell(index, code(id, text));
    this.cells.splice(index, 0, { id, text, marks: this.marks(text.length) });
  }

  private undoable(): { undo(): void; redo(): void }[] {
    return [
      this.notebook,
      ...this.notebook.cells.map(cell => ({
        undo: () => void cell.undoManager?.undo(),
        redo: () => void cell.undoManager?.redo()
      }))
    ];
  }

  private change(most: number): void {
    const cell = this.pick(this.cells);
    const from = this.upTo(cell.text.length);
    const to = Math.min(cell.text.length, from + this.upTo(most));
    this.edit(cell, from, to, this.line().slice(0, 1 + this.upTo(9)));
  }

  private edit(cell: ICell, from: number, to: number, text: string): void {
    this.shared(cell).updateSource(from, to, text);
    cell.marks.splice(from, to - from, ...this.marks(text.length));
    cell.text = cell.text.slice(0, from) + text + cell.text.slice(to);
  }

  private shared({ id }: ICell): YNotebook['cells'][number] {
    const cell = this.notebook.cells.find(each => each.id === id);
    if (cell === undefined) {
      throw new Error(`No cell ${id}`);
    }
    return cell;
  }

  private shown(): string[][] {
    return this.notebook.cells.map(cell => [cell.id, cell.getSource()]);
  }

  private remember(): void {
    this.history.push(JSON.stringify(this.cells));
  }

  /** After an undo, look up the earlier state of each cell. */
  private restoreUndone(): void {
    const known = [JSON.stringify(this.cells), ...this.history]
      .reverse()
      .flatMap(state => JSON.parse(state) as ICell[]);
    this.cells = this.shown().map(([id = '', text = '']) => {
      const same = known.filter(cell => cell.id === id && cell.text === text);
      const all = new Set(same.map(cell => cell.marks.join()));
      this.isSure &&= all.size === 1;
      return {
        id,
        text,
        marks: [...(same[0]?.marks ?? this.marks(text.length))]
      };
    });
  }

  /** Whether a character occurs twice: a cut cell was pasted and the cut undone. */
  private get hasDuplicates(): boolean {
    const marks = this.cells.flatMap(cell => cell.marks);
    return new Set(marks).size < marks.length;
  }

  /** Whether the earlier state of every undone change was found. */
  private isSure = true;

  private mark(): number {
    this.count += 1;
    return this.count;
  }

  private marks(count: number): number[] {
    return Array.from({ length: count }, () => this.mark());
  }

  private newId(): string {
    return `cell-${this.mark()}`;
  }

  private readonly next: () => number;
  /** Numbers up to this one existed before the last change. */
  known = 0;
  private count = 0;
  private held: ICell | null = null;
  private readonly history: string[] = [];
}

const ACTS = [
  ...['type', 'type', 'type', 'remove', 'remove', 'replace', 'split'],
  ...['merge', 'move', 'cut', 'paste', 'paste', 'indent', 'rewrite', 'reshape'],
  ...['undo', 'undo', 'undo', 'redo']
] as (
  | 'type'
  | 'remove'
  | 'replace'
  | 'split'
  | 'merge'
  | 'move'
  | 'cut'
  | 'paste'
  | 'indent'
  | 'rewrite'
  | 'reshape'
  | 'undo'
  | 'redo'
)[];

function code(
  id: string,
  source: string
): { id: string; cell_type: 'code'; source: string } {
  return { id, cell_type: 'code', source };
}

function part(
  { text, marks }: ICell,
  from: number,
  to: number
): { text: string; marks: number[] } {
  const whole = text.slice(from, to);
  const start = from + (whole.length - whole.replace(/^\n+/, '').length);
  const kept = whole.replace(/^\n+/, '').replace(/\n+$/, '');
  return { text: kept, marks: marks.slice(start, start + kept.length) };
}
