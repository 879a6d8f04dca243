/** The views' port to the panel's location. Implemented by `PanelPlacement` of the chat plugin. */

import type { ISignal } from '@lumino/signaling';

/** The locations, the default first. Their names are in the settings. */
export const PANEL_LOCATIONS = ['right', 'left', 'main', 'bubble'] as const;

/** A side bar, a tab in the main area, or a bubble over the page. */
export type PanelLocation = (typeof PANEL_LOCATIONS)[number];

/** The panel's location. */
export interface IPanelPlacement {
  readonly location: PanelLocation;
  /** The available locations: Notebook has no tabs. */
  readonly locations: readonly PanelLocation[];
  readonly changed: ISignal<unknown, void>;
  /** Move the panel and show it there. */
  readonly moveTo: (place: PanelLocation) => Promise<void>;
  /** Hide the panel. */
  readonly hide: () => void;
}
