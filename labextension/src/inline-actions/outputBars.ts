/**
 * The bars at outputs: the error bar above a traceback, "Ask about this output" at any other. Follows the outputs of
 * open notebooks. Owned by `InlineActionsController`.
 */

import { CodeCell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import type { Widget } from '@lumino/widgets';

import { ErrorBar } from './errorBar';
import { causeOf } from './errorCause';
import type { CellFixes } from './cellFixes';
import { causeText } from './fixMessages';

/** Actions of the buttons. */
export interface IOutputActions {
  readonly fixes: CellFixes;
  /** Show a conversation. */
  openConversation(sessionId: string): void;
  ask(panel: NotebookPanel, cell: CodeCell, index: number): void;
}

const BAR = 'shoulders-OutputBar';
const ASKS_INPUT = 'jp-OutputArea-stdin-item';

export class OutputBars {
  constructor(
    notebooks: INotebookTracker,
    private readonly actions: IOutputActions,
    private readonly icon: LabIcon,
    private readonly trans: TranslationBundle
  ) {
    actions.fixes.changed.connect((_, cell) => this.showFixStage(cell));
    notebooks.widgetAdded.connect((_, panel) => this.follow(panel));
    notebooks.forEach(panel => this.follow(panel));
  }

  private follow(panel: NotebookPanel): void {
    void panel.context.ready.then(() => {
      if (!panel.isDisposed) {
        const watchNewCells = (): void => this.watchNewCells(panel);
        panel.content.model?.cells.changed.connect(watchNewCells);
        watchNewCells();
      }
    });
  }

  /** Watch the outputs of new cells; their widgets are created in this same task. */
  private watchNewCells(panel: NotebookPanel): void {
    requestAnimationFrame(() => {
      for (const cell of panel.isDisposed ? [] : panel.content.widgets) {
        if (cell instanceof CodeCell && !this.followed.has(cell)) {
          this.followed.add(cell);
          const drawOncePerFrame = this.drawOncePerFrame(panel, cell);
          cell.outputArea.outputLengthChanged.connect(drawOncePerFrame);
          drawOncePerFrame();
        }
      }
    });
  }

  /** A function that draws a cell's bars once per animation frame. */
  private drawOncePerFrame(panel: NotebookPanel, cell: CodeCell): () => void {
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
        if (isError) {
          node.prepend(this.errorBar(panel, cell, output));
        } else {
          node.append(this.bar(panel, cell, output));
        }
      }
    });
  }

  /** Show the stage of a cell's fix at its last error. */
  private showFixStage(cell: CodeCell): void {
    this.errorBars.get(cell)?.show(this.actions.fixes.of(cell)?.stage ?? null);
  }

  private errorBar(
    panel: NotebookPanel,
    cell: CodeCell,
    output: Widget
  ): HTMLElement {
    const { actions, trans, icon } = this;
    const { fixes } = actions;
    const index = cell.outputArea.widgets.indexOf(output);
    const cause = causeOf(cell.outputArea.model.get(index).toJSON());
    const bar = new ErrorBar(
      cause,
      {
        fix: () => fixes.start(panel, cell, causeText(cause)),
        cancel: () => fixes.of(cell)?.cancel(),
        ask: () =>
          actions.ask(panel, cell, cell.outputArea.widgets.indexOf(output)),
        openConversation: () => {
          const sessionId = fixes.of(cell)?.edit.sessionId;
          if (typeof sessionId === 'string') {
            actions.openConversation(sessionId);
          }
        }
      },
      icon,
      trans
    );
    suppressLabHandlers(bar.node);
    this.errorBars.set(cell, bar);
    this.showFixStage(cell);
    return bar.node;
  }

  private bar(
    panel: NotebookPanel,
    cell: CodeCell,
    output: Widget
  ): HTMLElement {
    const { trans, actions } = this;
    const bar = document.createElement('div');
    bar.className = BAR;
    suppressLabHandlers(bar);
    const ask = (): void => {
      const index = cell.outputArea.widgets.indexOf(output);
      actions.ask(panel, cell, index);
    };
    bar.append(this.button(trans.__('Ask about this output'), ask));
    return bar;
  }

  /** An icon button with a label. */
  private button(label: string, act: () => void): HTMLElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = `${BAR}-button`;
    button.title = label;
    button.setAttribute('aria-label', label);
    button.prepend(this.icon.element({ tag: 'span' }));
    button.addEventListener('click', act);
    return button;
  }

  private readonly followed = new WeakSet<CodeCell>();
  private readonly errorBars = new WeakMap<CodeCell, ErrorBar>();
}

/** Otherwise JupyterLab would handle Enter, and take a click for one on the cell. */
function suppressLabHandlers(bar: HTMLElement): void {
  bar.dataset.lmSuppressShortcuts = 'true';
  bar.addEventListener('mousedown', event => event.stopPropagation());
  bar.addEventListener('keydown', event => event.stopPropagation());
}
