/** The small list of the threads of one place: a menu of the lab's. Used by the threads of the page. */

import type { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

import { THREAD_COMMANDS } from './commandIds';

/** The menu. */
export class ThreadMenu {
  constructor(commands: CommandRegistry, name: string) {
    this.menu = new Menu({ commands });
    this.menu.addClass('shoulders-ThreadMenu');
    this.menu.node.setAttribute('aria-label', name);
    // The focus goes back to where it was, unless something that was chosen took it.
    this.menu.aboutToClose.connect(() => {
      const { opener } = this;
      this.opener = null;
      if (opener?.isConnected === true) {
        opener.focus();
      }
    });
  }

  /** List threads below a place of the page; with a new one at the end, where one can be started. */
  open(ids: readonly string[], below: DOMRect, hasStart: boolean): void {
    const { menu } = this;
    menu.clearItems();
    ids.forEach(id =>
      menu.addItem({ command: THREAD_COMMANDS.open, args: { id } })
    );
    if (hasStart) {
      menu.addItem({ type: 'separator' });
      menu.addItem({ command: THREAD_COMMANDS.start });
    }
    const active = document.activeElement;
    this.opener = active instanceof HTMLElement ? active : null;
    menu.open(below.left, below.bottom);
    menu.activateNextItem();
  }

  private readonly menu: Menu;
  private opener: HTMLElement | null = null;
}
