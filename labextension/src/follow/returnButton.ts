/** The button over a document that leads back to where the agent works. Used by the follower of the page. */

import type { LabIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

/** One for the page; it is over one document at a time. */
export class ReturnButton {
  constructor(trans: TranslationBundle, icon: LabIcon, go: () => void) {
    const { node } = this;
    node.type = 'button';
    node.className = 'shoulders-FollowPill';
    icon.element({ container: this.icon, height: '14px', width: '14px' });
    node.append(this.icon, trans.__('Back to the agent'));
    node.addEventListener('click', go);
  }

  /** Whether it has the focus. */
  get isFocused(): boolean {
    return document.activeElement === this.node;
  }

  /** Be over a widget; over none with null. */
  place(over: Widget | null): void {
    if (over === null) {
      this.node.remove();
    } else if (this.node.parentElement !== over.node) {
      over.node.append(this.node);
    }
  }

  private readonly node = document.createElement('button');
  private readonly icon = document.createElement('span');
}
