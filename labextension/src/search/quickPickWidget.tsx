/** The quick-pick over the page, like JupyterLab's command palette. Made by `SearchController`. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { isFocusFree } from '../ui/focus';
import { QuickPick, type IQuickPickHost } from './QuickPick';
import type { SearchStore } from './searchStore';

/** Closes when the focus leaves it, and on Escape. */
export class QuickPickWidget extends ReactWidget {
  constructor(
    private readonly store: SearchStore,
    private readonly host: IQuickPickHost
  ) {
    super();
    this.id = 'shoulders-search';
    this.addClass('jp-ThemedContainer');
    this.addClass('shoulders-Chat');
    this.addClass('shoulders-SearchDialog');
    const { node } = this;
    node.setAttribute('role', 'dialog');
    node.setAttribute('aria-label', host.trans.__('Search the workspace'));
    node.tabIndex = -1;
    // Keys are not for the document below.
    node.dataset.lmSuppressShortcuts = 'true';
  }

  /** Show it with the focus in its field. */
  open(): void {
    if (!this.isAttached) {
      const { activeElement } = document;
      this.before = activeElement instanceof HTMLElement ? activeElement : null;
      Widget.attach(this, document.body);
    }
    void this.renderPromise?.then(() => {
      const field = this.node.querySelector('input');
      field?.focus();
      field?.select();
    });
  }

  /** Close it; the focus returns to where it was. */
  cancel(): void {
    this.leave();
    this.before?.focus();
  }

  /** Close it to show something else, which takes the focus. */
  leave(): void {
    if (!this.isDisposed) {
      this.dispose();
    }
  }

  protected override render(): React.JSX.Element {
    return <QuickPick store={this.store} host={this.host} />;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.node.addEventListener('keydown', this.onKey);
    this.node.addEventListener('focusout', this.onFocusOut);
  }

  protected override onBeforeDetach(message: Message): void {
    this.node.removeEventListener('keydown', this.onKey);
    this.node.removeEventListener('focusout', this.onFocusOut);
    super.onBeforeDetach(message);
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && !event.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      this.cancel();
    }
  };

  private readonly onFocusOut = (event: FocusEvent): void => {
    const { relatedTarget, target } = event;
    const isInside =
      relatedTarget instanceof Node && this.node.contains(relatedTarget);
    // It stays while the user looks at another window.
    if (isInside || !document.hasFocus()) {
      return;
    }
    requestAnimationFrame(() => {
      if (this.isDisposed || this.node.contains(document.activeElement)) {
        return;
      }
      if (target instanceof Element && target.getClientRects().length === 0) {
        this.node.querySelector('input')?.focus(); // An answer removed or hid what had the focus.
        return;
      }
      this.leave();
      if (isFocusFree()) {
        this.before?.focus();
      }
    });
  };

  /** What had the focus. */
  private before: HTMLElement | null = null;
}
