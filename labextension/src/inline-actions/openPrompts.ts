/**
 * The open prompts of this page: keeps each at its cell while cells are moved, scrolled away and rendered again, and
 * previews the change in the editor. Owned by `InlineActionsController`.
 */

import { MainAreaWidget } from '@jupyterlab/apputils';
import { MarkdownCell } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import { Signal } from '@lumino/signaling';
import { PanelLayout } from '@lumino/widgets';

import type { InlineEdit, Task } from './inlineEdit';
import { preview } from './editPreview';
import type { IPromptProps } from './PromptView';
import { PromptWidget } from './promptWidget';
import {
  CellTarget,
  isRendered,
  type FileTarget
} from '../live-documents/openEditTargets';

type View = Omit<IPromptProps, 'edit'>;
type Target = CellTarget | FileTarget;

/** Makes the edit of a target. */
export type MakeEdit = (target: Target, task: Task) => InlineEdit;

export class OpenPrompts {
  constructor(
    private readonly view: View,
    private readonly make: MakeEdit
  ) {}

  /** Open the prompt of a target, or focus the one that is open there. */
  open(target: Target, task: Task): void {
    const before = this.prompts.find(
      prompt => prompt.task === task && isSameTarget(prompt.target, target)
    );
    if (before !== undefined) {
      target.dispose();
      before.focus();
      return;
    }
    const edit = this.make(target, task);
    const prompt = new Prompt(target, edit, this.view);
    this.prompts.push(prompt);
    edit.ended.connect(() => {
      this.prompts = this.prompts.filter(other => other !== prompt);
    });
    prompt.focus();
  }

  private prompts: Prompt[] = [];
}

function isSameTarget(one: Target, other: Target): boolean {
  return one.panel === other.panel && one.cellId === other.cellId;
}

class Prompt {
  constructor(
    readonly target: Target,
    private readonly edit: InlineEdit,
    private readonly view: View
  ) {
    this.task = edit.task;
    this.widget = this.makeWidget();
    if (target instanceof CellTarget && edit.task === 'rewrite') {
      this.wasRendered = isRendered(target.widget);
    }
    edit.changed.connect(this.draw, this);
    edit.ended.connect(this.end, this);
    target.changed.connect(this.draw, this);
    target.panel.disposed.connect(this.onDocumentClosed, this);
    this.attach();
  }

  readonly task: Task;

  focus(): void {
    this.widget.focusField();
  }

  /** Run once per animation frame. */
  private readonly draw = (): void => {
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.attach();
      });
    }
  };

  /** Attach the prompt to its text's current cell, and the preview to the editor that shows it. */
  private attach(): void {
    if (this.isDisposed || this.target.refusal() === 'gone') {
      return;
    }
    if (this.widget.isDisposed) {
      this.widget = this.makeWidget(); // It was disposed with the widget of a moved cell.
    }
    if (this.target instanceof CellTarget) {
      this.attachToCell(this.target);
    } else {
      this.attachToFile(this.target);
    }
    preview(this.editor, this.edit.proposal);
  }

  private attachToCell(target: CellTarget): void {
    const cell = target.widget;
    const layout = cell?.layout;
    if (cell === undefined || !(layout instanceof PanelLayout)) {
      return;
    }
    if (this.task === 'rewrite' && cell instanceof MarkdownCell) {
      cell.rendered = false;
    }
    if (this.widget.parent !== cell) {
      const isAbove = this.task === 'rewrite';
      layout.insertWidget(isAbove ? 0 : layout.widgets.length, this.widget);
      cell.inViewportChanged.connect(this.draw, this);
      void cell.ready.then(this.draw);
    }
  }

  private attachToFile({ panel }: FileTarget): void {
    if (this.widget.parent === null && panel instanceof MainAreaWidget) {
      panel.contentHeader.addWidget(this.widget);
      this.widget.growWithContent();
    }
  }

  private get editor(): CodeEditor.IEditor | null {
    return this.target instanceof CellTarget
      ? (this.target.widget?.editor ?? null)
      : this.target.panel.content.editor;
  }

  private makeWidget(): PromptWidget {
    return new PromptWidget({ ...this.view, edit: this.edit });
  }

  /** The document was closed. */
  private readonly onDocumentClosed = (): void => {
    this.edit.discard();
  };

  private readonly end = (): void => {
    const { target, widget } = this;
    const hadFocus = widget.hasFocus;
    this.isDisposed = true;
    Signal.clearData(this); // Its panel and cell still exist.
    if (target.panel.isDisposed) {
      widget.dispose();
      target.dispose();
      return;
    }
    preview(this.editor, null);
    widget.dispose();
    const cell = target instanceof CellTarget ? target.widget : null;
    if (this.wasRendered && cell instanceof MarkdownCell) {
      cell.rendered = true;
    }
    if (hadFocus) {
      target.focus();
    }
    target.dispose();
  };

  private widget: PromptWidget;
  private wasRendered = false;
  private waiting = false;
  private isDisposed = false;
}
