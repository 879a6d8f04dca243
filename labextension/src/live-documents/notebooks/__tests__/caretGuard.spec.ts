import { YNotebook } from '@jupyter/ydoc';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { applyUpdate, encodeStateAsUpdate } from 'yjs';

import type { CellEdit } from '../../../wire/generated';
import { CaretGuard } from '../caretGuard';
import { OpenNotebook } from '../openNotebook';
import type { ISharedNotebookWithCells } from '../sharedNotebook';
import { open, type FakeContext } from '../../__tests__/fakeLab';

/** A cell's widget; its editor is a text field, created by `render`. */
class FakeCell {
  constructor(private readonly shared: ReturnType<FakeContext['cell']>) {
    // As in JupyterLab, a removed cell loses its id.
    this.model = {
      get id() {
        return shared.id;
      },
      sharedModel: shared
    };
    this.ready = new Promise(resolve => (this.resolve = resolve));
  }

  readonly model: { id: string; sharedModel: unknown };
  readonly node = document.createElement('div');
  readonly readOnly = false;
  readonly ready: Promise<void>;
  isDisposed = false;
  editorWidget: { node: HTMLElement } | null = null;
  editor: object | null = null;

  isOf(shared: unknown): boolean {
    return this.shared === shared;
  }

  /** Create the editor, as JupyterLab does later. */
  render(): void {
    const { shared } = this;
    const field = document.createElement('textarea');
    field.value = shared.getSource();
    this.node.append(field);
    this.editorWidget = { node: field };
    this.editor = {
      model: { sharedModel: shared },
      // One line: its columns are offsets.
      getSelection: () => ({
        start: { column: field.selectionStart },
        end: { column: field.selectionEnd }
      }),
      getOffsetAt: ({ column }: { column: number }) => column,
      getPositionAt: (offset: number) => ({ line: 0, column: offset }),
      setSelection: ({ start, end }: Record<string, { column: number }>) =>
        field.setSelectionRange(start?.column ?? 0, end?.column ?? 0),
      replaceSelection: (text: string) => {
        field.setRangeText(text);
        shared.updateSource(field.selectionStart, field.selectionEnd, text);
      },
      focus: () => field.focus()
    };
    this.resolve();
  }

  get field(): HTMLTextAreaElement {
    // Created by `render`.
    return this.editorWidget?.node as HTMLTextAreaElement;
  }

  private resolve: () => void = () => undefined;
}

/** A view that treats its cells as JupyterLab does: removing the active cell moves its caret to a neighbour. */
class FakeView {
  constructor(private readonly lab: FakeContext) {
    const { cells } = lab.model.sharedModel;
    this.widgets = cells.map(cell => new FakeCell(cell));
    this.widgets.forEach(cell => cell.render());
    this.node.append(this.cellsNode);
    this.attach();
    document.body.replaceChildren(this.node);
    lab.model.cells.changed.connect(this.onCells);
  }

  readonly node = document.createElement('div');
  widgets: FakeCell[];
  activeCell: FakeCell | null = null;
  activeCellIndex = -1;

  /** The user clicks into a cell. */
  click(id: string, from = 0, to = from): FakeCell {
    const cell = this.cell(id);
    this.activeCell = cell;
    cell.field.focus();
    cell.field.setSelectionRange(from, to);
    return cell;
  }

  /** The user presses a key; it goes to the focused element. */
  press(letter: string): void {
    const target = document.activeElement;
    target?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true }));
    if (target instanceof HTMLTextAreaElement) {
      target.setRangeText(letter);
    }
  }

  cell(id: string): FakeCell {
    const cell = this.widgets.find(({ model }) => model.id === id);
    if (cell === undefined) {
      throw new Error(`no cell ${id}`);
    }
    return cell;
  }

  get panel(): NotebookPanel {
    return {
      node: this.node,
      content: this,
      context: this.lab.context,
      disposed: new Signal(this),
      isDisposed: false
    } as unknown as NotebookPanel;
  }

  private readonly onCells = (): void => {
    const { cells } = this.lab.model.sharedModel;
    const hadFocus = this.cellsNode.contains(document.activeElement);
    const before = this.widgets;
    this.widgets = cells.map(
      shared => before.find(item => item.isOf(shared)) ?? new FakeCell(shared)
    );
    this.attach();
    const isLost = this.activeCell !== null && !this.has(this.activeCell);
    before
      .filter(item => !this.has(item))
      .forEach(item => (item.isDisposed = true));
    if (isLost) {
      this.activeCell = before.find(item => this.has(item)) ?? null;
      if (hadFocus) {
        this.activeCell?.field.focus();
      }
    }
  };

  private has(cell: FakeCell): boolean {
    return this.widgets.includes(cell);
  }

  /** Attach and detach changed cells only: reattaching a node loses the focus. */
  private attach(): void {
    const { children } = this.cellsNode;
    const nodes = this.widgets.map(({ node }) => node);
    [...children]
      .filter(node => !nodes.some(item => item === node))
      .forEach(node => node.remove());
    nodes.forEach((node, index) => {
      if (children[index] !== node) {
        this.cellsNode.insertBefore(node, children[index] ?? null);
      }
    });
  }

  private readonly cellsNode = document.createElement('div');
}

let lab: FakeContext;
let view: FakeView;
let notebook: OpenNotebook;

const move: CellEdit = { kind: 'cell-move', cell_id: 'b', after: null };
const remove: CellEdit = { kind: 'cell-delete', cell_id: 'b' };
const focused = (): unknown => document.activeElement;

beforeEach(() => {
  lab = open(
    { id: 'a', source: 'one' },
    { id: 'b', source: 'two' },
    { id: 'c', source: 'three' }
  );
  view = new FakeView(lab);
  notebook = new OpenNotebook(lab.context);
  notebook.carets.add(new CaretGuard(view.panel));
});

describe('a caret in a cell that is moved', () => {
  it('comes back with its selection and what was typed on the way', async () => {
    view.click('b', 1, 2);
    expect(notebook.apply({}, [move]).kind).toBe('applied');
    view.press('W');
    const moved = view.cell('b');
    moved.render();
    await moved.ready;
    await vi.waitFor(() => expect(focused()).toBe(moved.field));
    expect(lab.sources).toEqual([
      ['b', 'tWo'],
      ['a', 'one'],
      ['c', 'three']
    ]);
    expect(view.node.querySelectorAll('.shoulders-Keys')).toHaveLength(0);
  });

  it('comes back once when the cell is moved on before its editor is there', async () => {
    view.click('b', 3);
    notebook.apply({}, [move]);
    notebook.applyMerge([{ ...move, after: 'c' }], new Map());
    view.press('!');
    const moved = view.cell('b');
    moved.render();
    await vi.waitFor(() => expect(focused()).toBe(moved.field));
    expect(lab.sources.at(-1)).toEqual(['b', 'two!']);
  });

  it('leaves the focus where the user moved it', async () => {
    view.click('b', 3);
    notebook.apply({}, [move]);
    view.press('!');
    const elsewhere = view.click('c').field;
    const moved = view.cell('b');
    moved.render();
    await vi.waitFor(() => expect(lab.sources[0]).toEqual(['b', 'two!']));
    expect(focused()).toBe(elsewhere);
  });

  it('stays in a cell that others are moved around', () => {
    const { field } = view.click('c', 2);
    notebook.apply({}, [move]);
    expect(focused()).toBe(field);
  });
});

describe('a caret in a cell that is deleted', () => {
  it('goes nowhere: no other cell gets the keys', () => {
    view.click('b', 1);
    expect(notebook.apply({}, [remove]).kind).toBe('applied');
    expect(focused()).toBe(document.body);
  });
});

describe('a caret in a room', () => {
  /** Another user changes the list of cells. */
  function others(change: (theirs: YNotebook) => void): void {
    const { ydoc } = lab.model
      .sharedModel as unknown as ISharedNotebookWithCells;
    const theirs = new YNotebook();
    applyUpdate(theirs.ydoc, encodeStateAsUpdate(ydoc));
    change(theirs);
    applyUpdate(ydoc, encodeStateAsUpdate(theirs.ydoc));
  }

  it('goes with a cell that others move', async () => {
    view.click('b', 3);
    others(theirs => theirs.moveCell(1, 0));
    view.press('!');
    const moved = view.cell('b');
    moved.render();
    await vi.waitFor(() => expect(focused()).toBe(moved.field));
    expect(lab.sources[0]).toEqual(['b', 'two!']);
  });

  it('goes nowhere when others delete its cell, and stays when they delete another', () => {
    const { field } = view.click('b', 3);
    others(theirs => theirs.deleteCell(0));
    expect(focused()).toBe(field);
    others(theirs => theirs.deleteCell(0));
    expect(lab.sources).toEqual([['c', 'three']]);
    expect(focused()).toBe(document.body);
  });
});

describe('a cell the user is typing in', () => {
  it.each([move, remove])('is not taken away: $kind', edit => {
    const { field } = view.click('b', 3);
    view.press('!');
    expect(notebook.apply({}, [edit])).toMatchObject({
      kind: 'conflict',
      conflicts: [{ cell_id: 'b', current: 'two', reason: 'changed' }]
    });
    expect(focused()).toBe(field);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(now + 60_000);
    expect(notebook.apply({}, [edit]).kind).toBe('applied');
  });

  it('is only the one that has the caret', () => {
    view.click('b');
    view.press('!');
    view.click('c');
    expect(notebook.apply({}, [move]).kind).toBe('applied');
  });
});
