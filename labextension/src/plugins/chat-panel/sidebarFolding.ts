/**
 * Keeps the notebook readable in a narrow window, as at a zoom of 200 %: when the window becomes narrow, or the panel
 * opens in one, the other side bar is collapsed, then the panel if that is not enough. Made by the chat plugin.
 */

import type { ILabShell } from '@jupyterlab/application';
import type { Widget } from '@lumino/widgets';

import type { PanelLocation } from '../../host/panelPlacement';

/** Minimum width of the main area in px; code is unreadable below it. */
export const MIN_MAIN_WIDTH = 320;

/** The side bar to collapse. */
export type Fold = 'other' | 'panel' | null;

/** The side bar to collapse for a main area of this width. */
export function foldFor(main: number, isOtherFolded: boolean): Fold {
  if (main >= MIN_MAIN_WIDTH) {
    return null;
  }
  return isOtherFolded ? 'panel' : 'other';
}

type Shell = Pick<
  ILabShell,
  'collapseLeft' | 'collapseRight' | 'leftCollapsed' | 'rightCollapsed'
>;

/** The side bar of a location. */
export function sideOf(place: PanelLocation): 'left' | 'right' | null {
  return place === 'left' || place === 'right' ? place : null;
}

/** Watch the window and the panel; `side` returns the panel's side bar, null elsewhere. */
export function foldSidebarsWhenNarrow(
  shell: Shell,
  panel: Widget & { shownChanged: { connect: (slot: () => void) => unknown } },
  side: () => 'left' | 'right' | null
): void {
  let width = window.innerWidth;
  const look = (mayHide: boolean): void => {
    const at = side();
    const main = document.getElementById('jp-main-dock-panel')?.clientWidth;
    if (at === null || !panel.isVisible || !main) {
      return;
    }
    const other = at === 'right' ? 'left' : 'right';
    const fold = foldFor(main, isFolded(shell, other));
    if (fold === 'other') {
      collapse(shell, other);
    } else if (fold === 'panel' && mayHide) {
      collapse(shell, at);
    }
  };
  const later = (mayHide: boolean): void => {
    requestAnimationFrame(() => look(mayHide)); // After JupyterLab's layout.
  };
  window.addEventListener('resize', () => {
    const isNarrower = window.innerWidth < width;
    width = window.innerWidth;
    if (isNarrower) {
      later(true);
      requestAnimationFrame(() => later(true)); // Collapse the panel if collapsing the other was not enough.
    }
  });
  // A user who opens the panel wants to see it.
  panel.shownChanged.connect(() => later(false));
}

function isFolded(shell: Shell, side: 'left' | 'right'): boolean {
  return side === 'left' ? shell.leftCollapsed : shell.rightCollapsed;
}

function collapse(shell: Shell, side: 'left' | 'right'): void {
  if (side === 'left') {
    shell.collapseLeft();
  } else {
    shell.collapseRight();
  }
}
