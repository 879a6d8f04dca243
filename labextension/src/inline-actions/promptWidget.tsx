/** A prompt as a JupyterLab widget. Made by `OpenPrompts`. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import { PromptView, type IPromptProps } from './PromptView';

/** Margin around a prompt above a file, in px. */
const GAP = 10;

/** The widget. All its state is in the edit, so it may be recreated with its cell. */
export class PromptWidget extends ReactWidget {
  constructor(private readonly props: IPromptProps) {
    super();
    this.addClass('shoulders-PromptWidget');
    // Otherwise JupyterLab would handle keys, and take a click for one on the cell.
    this.node.dataset.lmSuppressShortcuts = 'true';
    this.node.addEventListener('mousedown', event => event.stopPropagation());
    this.node.addEventListener('keydown', event => event.stopPropagation());
  }

  /**
   * Request the height of the content from JupyterLab, now and when it changes: above a file a widget has none by
   * default.
   */
  growWithContent(): void {
    void this.renderPromise?.then(() => {
      const content = this.node.firstElementChild;
      if (content !== null && this.observer === null) {
        this.observer = new ResizeObserver(() => {
          this.node.style.minHeight = `${content.clientHeight + GAP}px`;
          this.parent?.fit();
        });
        this.observer.observe(content);
      }
    });
  }

  override dispose(): void {
    this.observer?.disconnect();
    super.dispose();
  }

  /** Focus the instruction, now or once it is rendered. */
  focusField(): void {
    this.wantsFocus = true;
    void this.renderPromise?.then(() => {
      const field = this.node.querySelector('textarea');
      if (this.wantsFocus && field !== null) {
        this.wantsFocus = false;
        field.focus({ preventScroll: true });
        this.node.scrollIntoView({ block: 'nearest' });
      }
    });
  }

  /** Whether the focus is in the prompt. */
  get hasFocus(): boolean {
    return this.node.contains(document.activeElement);
  }

  protected override render(): React.JSX.Element {
    return <PromptView {...this.props} />;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.wantsFocus) {
      this.focusField();
    }
  }

  private wantsFocus = false;
  private observer: ResizeObserver | null = null;
}
