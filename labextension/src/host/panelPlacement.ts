/** Where the panel is in the page, as the views see it. `PanelPlacement` of the chat plugin implements it. */

import type { ISignal } from '@lumino/signaling';

/** The places, the usual one first. Their names are in the settings. */
export const PANEL_LOCATIONS = ['right', 'left', 'main', 'bubble'] as const;

/** A side bar, a tab in the main area, or a bubble over the page. */
export type PanelLocation = (typeof PANEL_LOCATIONS)[number];

/** The place of the panel. */
export interface IPanelPlacement {
  readonly place: PanelLocation;
  /** Those this page has: Notebook has no tabs. */
  readonly places: readonly PanelLocation[];
  readonly changed: ISignal<unknown, void>;
  /** Move the panel and show it there. */
  readonly moveTo: (place: PanelLocation) => Promise<void>;
  /** Put the panel out of the way. */
  readonly hide: () => void;
}
