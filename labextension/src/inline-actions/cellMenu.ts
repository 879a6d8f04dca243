/** The AI menu of a cell's toolbar. Owned by `InlineActionsController`. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Menu } from '@lumino/widgets';

import { INLINE_ACTION_COMMANDS } from './commandIds';

/** Name of the toolbar item in the plugin's schema. */
const ITEM = 'shoulders-ai';

export class CellMenu {
  constructor(
    app: JupyterFrontEnd,
    private readonly notebooks: INotebookTracker,
    trans: TranslationBundle
  ) {
    this.menu = new Menu({ commands: app.commands });
    this.menu.addClass('shoulders-CellMenu');
    this.menu.node.setAttribute('aria-label', trans.__('AI'));
    const { edit, explain, generate, fix } = INLINE_ACTION_COMMANDS;
    for (const command of [edit, generate, explain, fix]) {
      this.menu.addItem({ command });
    }
    // Return the focus.
    this.menu.aboutToClose.connect(() => {
      const { opener } = this;
      this.opener = null;
      if (opener?.isConnected === true) {
        opener.focus();
      }
    });
  }

  /**
   * Open the menu below its button in the active cell of the current notebook; each open notebook has an active cell.
   */
  open(): void {
    const item = this.notebooks.activeCell?.node.querySelector(
      `[data-jp-item-name='${ITEM}']`
    );
    const active = document.activeElement;
    this.opener = active instanceof HTMLElement ? active : null;
    const place = item?.getBoundingClientRect();
    this.menu.open(place?.left ?? 0, place?.bottom ?? 0);
    this.menu.activateNextItem();
  }

  private readonly menu: Menu;
  private opener: HTMLElement | null = null;
}
