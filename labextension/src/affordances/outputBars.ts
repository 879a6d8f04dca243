/**
 * The buttons at outputs: "Fix with AI" below errors, "Ask about this output" in the corner of any. Follows the
 * outputs of open notebooks as they come and go. Owned by the page's affordances.
 */

import { CodeCell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import type { Widget } from '@lumino/widgets';

/** What the buttons do. */
export interface IOutputActions {
  fix(panel: NotebookPanel, cell: CodeCell): void;
  ask(panel: NotebookPanel, cell: CodeCell, index: number): void;
}

const BAR = 'shoulders-OutputBar';
const ASKS_INPUT = 'jp-OutputArea-stdin-item';

/** The bars of all open notebooks. */
export class OutputBars {
  constructor(
    notebooks: INotebookTracker,
    private readonly actions: IOutputActions,
    private readonly icon: LabIcon,
    private readonly trans: TranslationBundle
  ) {
    notebooks.widgetAdded.connect((_, panel) => this.follow(panel));
    notebooks.forEach(panel => this.follow(panel));
  }

  private follow(panel: NotebookPanel): void {
    void panel.context.ready.then(() => {
      if (!panel.isDisposed) {
        const look = (): void => this.look(panel);
        panel.content.model?.cells.changed.connect(look);
        look();
      }
    });
  }

  /** Follow the outputs of cells that are new; the widgets of all are made in this same turn. */
  private look(panel: NotebookPanel): void {
    requestAnimationFrame(() => {
      for (const cell of panel.isDisposed ? [] : panel.content.widgets) {
        if (cell instanceof CodeCell && !this.followed.has(cell)) {
          this.followed.add(cell);
          const later = this.later(panel, cell);
          cell.outputArea.outputLengthChanged.connect(later);
          later();
        }
      }
    });
  }

  /** Draws the bars of a cell, once for all that happens before the next frame. */
  private later(panel: NotebookPanel, cell: CodeCell): () => void {
    let isWaiting = false;
    return () => {
      if (!isWaiting) {
        isWaiting = true;
        requestAnimationFrame(() => {
          isWaiting = false;
          if (!cell.isDisposed) {
            this.draw(panel, cell);
          }
        });
      }
    };
  }

  private draw(panel: NotebookPanel, cell: CodeCell): void {
    const { outputArea } = cell;
    outputArea.widgets.forEach((output, index) => {
      const { node } = output;
      const isOutput =
        index < outputArea.model.length && !node.classList.contains(ASKS_INPUT);
      if (isOutput && node.querySelector(`:scope > .${BAR}`) === null) {
        const isError = outputArea.model.get(index).type === 'error';
        node.classList.add('shoulders-Output');
        node.classList.toggle('shoulders-mod-error', isError);
        node.append(this.bar(panel, cell, output, isError));
      }
    });
  }

  private bar(
    panel: NotebookPanel,
    cell: CodeCell,
    output: Widget,
    isError: boolean
  ): HTMLElement {
    const { trans, actions } = this;
    const bar = document.createElement('div');
    bar.className = BAR;
    // The lab would take Enter for its own, and a click for one on the cell.
    bar.dataset.lmSuppressShortcuts = 'true';
    bar.addEventListener('mousedown', event => event.stopPropagation());
    bar.addEventListener('keydown', event => event.stopPropagation());
    if (isError) {
      const fix = (): void => actions.fix(panel, cell);
      bar.append(this.button(trans.__('Fix with AI'), true, fix));
    }
    const ask = (): void => {
      const index = cell.outputArea.widgets.indexOf(output);
      actions.ask(panel, cell, index);
    };
    bar.append(this.button(trans.__('Ask about this output'), isError, ask));
    return bar;
  }

  /** A button with words, or a picture that says them. */
  private button(
    label: string,
    hasWords: boolean,
    act: () => void
  ): HTMLElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = `${BAR}-button`;
    if (hasWords) {
      button.textContent = label;
    } else {
      button.title = label;
      button.setAttribute('aria-label', label);
    }
    button.prepend(this.icon.element({ tag: 'span' }));
    button.addEventListener('click', act);
    return button;
  }

  private readonly followed = new WeakSet<CodeCell>();
}
