/** A prompt as a widget of the lab, with its change shown in the editor beside it. Made by `OpenPrompts`. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import { PromptView, type IPromptProps } from './PromptView';

/** Around it, above a file. */
const GAP = 10;

/** The widget; what it shows lives in the edit, so it may come and go with its cell. */
export class PromptWidget extends ReactWidget {
  constructor(private readonly props: IPromptProps) {
    super();
    this.addClass('shoulders-PromptWidget');
    // The lab would take keys for its own, and a click for one on the cell.
    this.node.dataset.lmSuppressShortcuts = 'true';
    this.node.addEventListener('mousedown', event => event.stopPropagation());
    this.node.addEventListener('keydown', event => event.stopPropagation());
  }

  /** Ask the lab for as much height as it needs, now and later: above a file it gives none by itself. */
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

  /** Put the cursor into the instruction, now or once it is there. */
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

  /** Whether the user is in it. */
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
