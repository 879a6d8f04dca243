/** Opens the panel beside the tour notebook the first time it is opened. Called by the chat plugin. */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { SplitPanel, type Widget } from '@lumino/widgets';

import { TOUR_CELL } from '../../chat/empty-state/tourCell';
import type { IStateStorage } from '../../model/conversations/persistedState';
import type { ChatWidget } from './chatWidget';
import type { PanelPlacement } from './panelPlacement';

/** Width of the panel in pixels: a suggestion of the demo fits in two lines. */
const WIDTH = 380;

/** Largest share of the window for the panel. */
const LARGEST_SHARE = 0.4;

export interface IFirstTourOptions {
  notebooks: INotebookTracker | null;
  panel: ChatWidget;
  placement: PanelPlacement;
  /** Stores that the panel was shown. */
  storage: IStateStorage;
}

/** Show the panel when the tour is opened for the first time. */
export function openOnFirstTour(options: IFirstTourOptions): void {
  const { notebooks, storage } = options;
  if (notebooks === null || storage.read() !== null) {
    return;
  }
  const look = (): void => {
    void showBeside(notebooks.currentWidget, options).then(
      isShown => {
        if (isShown) {
          notebooks.currentChanged.disconnect(look);
        }
      },
      (error: unknown) => {
        console.warn('The panel was not opened beside the tour:', error);
      }
    );
  };
  notebooks.currentChanged.connect(look);
  look();
}

async function showBeside(
  notebook: NotebookPanel | null,
  { panel, placement, storage }: IFirstTourOptions
): Promise<boolean> {
  await notebook?.context.ready;
  const cells = notebook?.model?.sharedModel.cells ?? [];
  if (!cells.some(({ id }) => id === TOUR_CELL) || storage.read() !== null) {
    return false;
  }
  storage.write('shown');
  await placement.reveal();
  if (placement.location === 'left' || placement.location === 'right') {
    widen(panel, placement.location);
  }
  return true;
}

/** Widen the side bar at the expense of its neighbour. */
function widen(panel: ChatWidget, side: 'left' | 'right'): void {
  const split = splitOf(panel);
  if (split === null) {
    return;
  }
  const sizes = split.relativeSizes();
  const at = side === 'left' ? 0 : sizes.length - 1;
  const beside = side === 'left' ? 1 : sizes.length - 2;
  const wanted = Math.min(WIDTH / split.node.clientWidth, LARGEST_SHARE);
  const more = wanted - (sizes[at] ?? wanted);
  if (more > 0) {
    split.setRelativeSizes(
      sizes.map((size, index) =>
        index === at ? wanted : index === beside ? size - more : size
      )
    );
  }
}

function splitOf(widget: Widget): SplitPanel | null {
  const { parent } = widget;
  return parent === null || parent instanceof SplitPanel
    ? parent
    : splitOf(parent);
}
