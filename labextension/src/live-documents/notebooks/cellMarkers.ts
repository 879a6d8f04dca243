/**
 * Marks cells that are stale, as the server reports them, and cells with a run policy. Made by the cells plugin. Uses
 * only the nodes of cells, which survive scrolling.
 */

import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { CellMark, ServerFrame } from '../../wire/generated';
import { policyOf, type RunPolicy } from './runPolicy';

const HOLDER = 'shoulders-CellMarks';
const MARKED = 'shoulders-mod-marked';

type Marks = Readonly<Record<string, CellMark>>;

interface IBadge {
  kind: string;
  label: string;
}

/** The marks of all notebooks of this page. */
export class CellMarkers implements IDisposable {
  constructor(
    private readonly notebooks: INotebookTracker,
    frames: ISignal<unknown, ServerFrame>,
    private readonly trans: TranslationBundle
  ) {
    frames.connect(this.onFrame, this);
    notebooks.widgetAdded.connect(this.onAdded, this);
    notebooks.forEach(panel => this.onAdded(notebooks, panel));
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      Signal.clearData(this);
    }
  }

  /** Whether stale cells are marked. */
  get shown(): boolean {
    return this.isShown;
  }

  set shown(value: boolean) {
    this.isShown = value;
    this.notebooks.forEach(panel => this.draw(panel));
  }

  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type !== 'document-marks') {
      return;
    }
    this.marks.set(frame.path, frame.marks);
    this.notebooks
      .filter(({ context }) => context.localPath === frame.path)
      .forEach(panel => this.draw(panel));
  };

  private readonly onAdded = (
    _: INotebookTracker,
    panel: NotebookPanel
  ): void => {
    void panel.context.ready.then(() => {
      const model = panel.content.model;
      if (panel.isDisposed || model === null) {
        return;
      }
      const soon = (): void => this.drawSoon(panel);
      // A moved cell has a new widget.
      model.cells.changed.connect(soon);
      panel.context.pathChanged.connect((_, path) => {
        this.renamed(panel, path);
      });
      panel.disposed.connect(() => model.cells.changed.disconnect(soon));
      this.draw(panel);
    });
  };

  private renamed(panel: NotebookPanel, path: string): void {
    const before = this.paths.get(panel);
    const marks = before === undefined ? undefined : this.marks.get(before);
    if (marks !== undefined) {
      this.marks.set(path, marks);
    }
    this.drawSoon(panel);
  }

  private drawSoon(panel: NotebookPanel): void {
    if (!this.waiting.has(panel)) {
      this.waiting.add(panel);
      requestAnimationFrame(() => {
        this.waiting.delete(panel);
        this.draw(panel);
      });
    }
  }

  private draw(panel: NotebookPanel): void {
    if (panel.isDisposed) {
      return;
    }
    const path = panel.context.localPath;
    this.paths.set(panel, path);
    const marks = this.isShown ? (this.marks.get(path) ?? {}) : {};
    panel.content.widgets.forEach(cell => {
      if (!this.followed.has(cell)) {
        this.followed.add(cell);
        cell.model.metadataChanged.connect((_, { key }) => {
          if (key === 'tags') {
            this.drawSoon(panel);
          }
        });
      }
      drawBadges(cell, this.badges(cell, marks[cell.model.id]));
    });
  }

  private badges(cell: Cell, mark: CellMark | undefined): IBadge[] {
    const badges: IBadge[] = [];
    if (cell.model.type !== 'code') {
      return badges;
    }
    if (mark !== undefined) {
      const label = this.trans.__('Stale: %1', mark.reason);
      badges.push({ kind: `stale shoulders-mod-${mark.state}`, label });
    }
    const policy = policyOf(cell.model.getMetadata('tags'));
    if (policy !== 'free') {
      badges.push({ kind: policy, label: this.policyLabel(policy) });
    }
    return badges;
  }

  private policyLabel(policy: Exclude<RunPolicy, 'free'>): string {
    return policy === 'ask'
      ? this.trans.__('The agent asks before it runs this cell')
      : this.trans.__('The agent never runs this cell');
  }

  private readonly marks = new Map<string, Marks>();
  private readonly paths = new WeakMap<NotebookPanel, string>();
  private readonly followed = new WeakSet<Cell>();
  private readonly waiting = new Set<NotebookPanel>();
  private isShown = true;
  private disposed = false;
}

/** Replace the badges of a cell. */
function drawBadges(cell: Cell, badges: readonly IBadge[]): void {
  const { node } = cell;
  const before = node.querySelector(`:scope > .${HOLDER}`);
  const said = badges.map(({ kind, label }) => `${kind} ${label}`).join('\n');
  if (
    before === null ? said === '' : before.getAttribute('data-said') === said
  ) {
    return;
  }
  before?.remove();
  node.classList.toggle(MARKED, badges.length > 0);
  if (badges.length === 0) {
    return;
  }
  const holder = document.createElement('div');
  holder.className = HOLDER;
  holder.dataset.said = said;
  for (const { kind, label } of badges) {
    const badge = document.createElement('span');
    badge.className = `shoulders-CellMark shoulders-mod-${kind}`;
    badge.setAttribute('role', 'img');
    badge.setAttribute('aria-label', label);
    badge.title = label;
    holder.append(badge);
  }
  node.append(holder);
}
