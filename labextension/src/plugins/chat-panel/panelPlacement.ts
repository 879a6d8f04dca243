/**
 * Places the chat panel in a side bar, a tab of the main area or a bubble. Stores the location in the settings and
 * restores it when the page loads. Made by the chat plugin.
 */

import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';

import {
  PANEL_LOCATIONS,
  type IPanelPlacement,
  type PanelLocation
} from '../../host/panelPlacement';
import type { IStateStorage } from '../../model/conversations/persistedState';
import type { Bubble } from './bubble';
import type { ChatWidget } from './chatWidget';

/** Next to the property inspector and the debugger. */
const RANK = 900;

/** Settings key. */
const LOCATION_SETTING = 'place';

export interface IPanelPlacementOptions {
  app: JupyterFrontEnd;
  panel: ChatWidget;
  labShell: ILabShell | null;
  /** Stores where the panel was and whether it was open: a reload does not wait for the settings. */
  storage: IStateStorage;
  /** Stores the size of the bubble. */
  bubbleStorage: IStateStorage;
  settings: () => Promise<ISettingRegistry.ISettings | null>;
}

/** The side bars of JupyterLab's and Notebook's shells. */
type SideBars = Partial<Pick<ILabShell, 'collapseLeft' | 'collapseRight'>>;

/** The panel's location. */
export class PanelPlacement implements IPanelPlacement {
  constructor(private readonly options: IPanelPlacementOptions) {
    const { app, panel, labShell } = options;
    this.locations = PANEL_LOCATIONS.filter(
      place => place !== 'main' || labShell !== null
    );
    panel.placement = this;
    app.shell.add(panel, 'right', { rank: RANK, type: 'AI chat' });
  }

  readonly changed = new Signal<this, void>(this);
  readonly locations: readonly PanelLocation[];

  get location(): PanelLocation {
    return this.requested;
  }

  /** Restore the panel's location once JupyterLab has restored its layout. Never rejects. */
  async restore(): Promise<void> {
    this.restored = this.comeBack().catch((error: unknown) => {
      console.warn('The chat may not be where it was:', error);
    });
    await this.restored;
  }

  readonly moveTo = async (place: PanelLocation): Promise<void> => {
    await this.restored; // The restored location must not override a newer request.
    await this.put(place, true);
    this.arrived(place);
    this.save();
    await this.show();
  };

  /** Show the panel without moving the focus. */
  async reveal(): Promise<void> {
    await this.restored;
    await this.put(this.requested, true);
  }

  /** Show the panel and focus its input. */
  async show(): Promise<void> {
    const { app, panel } = this.options;
    await this.restored;
    if (this.requested === 'bubble') {
      this.bubble?.open();
    } else {
      if (this.area() === null) {
        this.add(this.requested);
      }
      app.shell.activateById(panel.id);
    }
    panel.takeFocus();
  }

  readonly hide = (): void => {
    const { app, panel } = this.options;
    const sides: JupyterFrontEnd.IShell & SideBars = app.shell;
    switch (this.requested) {
      case 'bubble':
        this.bubble?.minimise();
        return; // The button that opens it has the focus.
      case 'main':
        panel.close();
        break;
      case 'left':
        sides.collapseLeft?.();
        break;
      case 'right':
        sides.collapseRight?.();
    }
    app.shell.currentWidget?.activate();
  };

  /** Hide the panel if it has the focus, else show it. */
  async toggle(): Promise<void> {
    const { panel } = this.options;
    if (panel.isVisible && panel.node.contains(document.activeElement)) {
      this.hide();
    } else {
      await this.show();
    }
  }

  private async comeBack(): Promise<void> {
    const { app, panel, labShell, settings } = this.options;
    const [was, state] = this.options.storage.read()?.split(' ') ?? [];
    await app.restored;
    // Not earlier: Notebook's shortcuts must be read before settings with shortcuts.
    this.settings = await settings();
    this.saved = this.chosen();
    this.settings?.changed.connect(this.onSettings, this);
    const place = this.locations.find(known => known === was) ?? this.chosen();
    const open = was === undefined ? panel.isVisible : state === OPEN;
    if (!this.isRestored(place, open)) {
      await this.put(place, open);
    }
    this.arrived(place);
    panel.shownChanged.connect(this.remember, this);
    labShell?.layoutModified.connect(this.onLayout, this);
  }

  /**
   * Whether JupyterLab restored the panel there. Notebook does not, and JupyterLab may restore a tab that was closed.
   */
  private isRestored(place: PanelLocation, open: boolean): boolean {
    const hasRestorer = this.options.labShell !== null;
    return hasRestorer && place === this.area() && (place !== 'main' || open);
  }

  private async put(place: PanelLocation, open: boolean): Promise<void> {
    const { panel } = this.options;
    this.moving = true;
    try {
      if (place === 'bubble') {
        const { Bubble } = await import('./bubble');
        this.bubble ??= new Bubble(
          panel,
          () => void this.show(),
          this.hide,
          this.options.bubbleStorage
        );
        this.bubble.adopt(open);
      } else {
        this.bubble?.release();
        panel.updateTab(place);
        this.add(place, open);
        this.unfold(open);
      }
      this.requested = place;
    } finally {
      this.moving = false;
    }
  }

  /** Show the panel in its side bar or tab without moving the focus. */
  private unfold(open: boolean): void {
    const { app, panel } = this.options;
    if (open) {
      panel.quietly(() => app.shell.activateById(panel.id));
    }
  }

  /** Add the panel to an area of the shell; a closed tab stays closed. */
  private add(place: Exclude<PanelLocation, 'bubble'>, open = true): void {
    const { app, panel, labShell } = this.options;
    if (place === 'main' && !open) {
      panel.parent = null;
    } else if (labShell === null) {
      app.shell.add(panel, place, { rank: RANK });
    } else {
      labShell.move(panel, place);
    }
  }

  /** The area of the shell that contains the panel. */
  private area(): PanelLocation | null {
    const { app, panel } = this.options;
    const areas = this.locations.filter(place => place !== 'bubble');
    return (
      areas.find(area => [...app.shell.widgets(area)].includes(panel)) ?? null
    );
  }

  private arrived(place: PanelLocation): void {
    this.requested = place;
    this.options.panel.updateTab(place);
    this.remember();
    this.changed.emit();
  }

  /** The location in the settings, if this page has it. */
  private chosen(): PanelLocation {
    const chosen = this.settings?.get(LOCATION_SETTING).composite;
    return this.locations.find(place => place === chosen) ?? 'right';
  }

  private save(): void {
    this.saved = this.requested;
    this.settings
      ?.set(LOCATION_SETTING, this.requested)
      .catch((error: unknown) => {
        console.warn('The place of the chat will not be remembered:', error);
      });
  }

  private readonly remember = (): void => {
    const { storage, panel } = this.options;
    if (!this.moving) {
      const open =
        this.requested === 'main' ? panel.isAttached : panel.isVisible;
      storage.write(`${this.requested} ${open ? OPEN : 'closed'}`);
    }
  };

  /** The location changed in the settings. */
  private readonly onSettings = (): void => {
    const place = this.chosen();
    if (place !== this.saved && !this.moving) {
      this.saved = place;
      const { isVisible } = this.options.panel;
      this.put(place, isVisible).then(
        () => this.arrived(place),
        (error: unknown) => {
          console.warn('The chat is not where the settings say:', error);
        }
      );
    }
  };

  /** JupyterLab has its own commands that move side bar items. */
  private readonly onLayout = (): void => {
    const area = this.area();
    if (!this.moving && area !== null && area !== this.requested) {
      this.arrived(area);
      this.save();
    }
  };

  private restored = Promise.resolve();
  private requested: PanelLocation = 'right';
  /** The last known location in the settings. */
  private saved: PanelLocation = 'right';
  private moving = false;
  private bubble: Bubble | null = null;
  private settings: ISettingRegistry.ISettings | null = null;
}

const OPEN = 'open';
