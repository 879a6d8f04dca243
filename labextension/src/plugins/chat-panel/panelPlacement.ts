/**
 * Where the chat panel is: a side bar, a tab in the main area, or a bubble. Remembers it in the settings, and takes the
 * panel there when the page is loaded. Made by the chat plugin.
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

/** Beside the property inspector and the debugger. */
const RANK = 900;

/** Key of the settings. */
const PLACE = 'place';

/** What `PanelPlacement` is made with. */
export interface IPanelPlacementOptions {
  app: JupyterFrontEnd;
  panel: ChatWidget;
  labShell: ILabShell | null;
  /** Remembers where the panel was and whether it was open: a reload does not wait for the settings. */
  keeper: IStateStorage;
  /** Remembers how large the bubble is. */
  bubbleKeeper: IStateStorage;
  settings: () => Promise<ISettingRegistry.ISettings | null>;
}

/** The side bars of the lab's shell and of Notebook's. */
type SideBars = Partial<Pick<ILabShell, 'collapseLeft' | 'collapseRight'>>;

/** The place of the panel. */
export class PanelPlacement implements IPanelPlacement {
  constructor(private readonly options: IPanelPlacementOptions) {
    const { app, panel, labShell } = options;
    this.places = PANEL_LOCATIONS.filter(
      place => place !== 'main' || labShell !== null
    );
    panel.dock = this;
    app.shell.add(panel, 'right', { rank: RANK, type: 'AI chat' });
  }

  readonly changed = new Signal<this, void>(this);
  readonly places: readonly PanelLocation[];

  get place(): PanelLocation {
    return this.wanted;
  }

  /** Take the panel to where it was, once the lab has restored its layout. Never rejects. */
  async restore(): Promise<void> {
    this.restored = this.comeBack().catch((error: unknown) => {
      console.warn('The chat may not be where it was:', error);
    });
    await this.restored;
  }

  readonly moveTo = async (place: PanelLocation): Promise<void> => {
    await this.restored; // What was remembered must not come after what is wanted now.
    await this.put(place, true);
    this.arrived(place);
    this.save();
    await this.show();
  };

  /** Show the panel and leave the cursor where it is. */
  async reveal(): Promise<void> {
    await this.restored;
    await this.put(this.wanted, true);
  }

  /** Show the panel and put the cursor into its input. */
  async show(): Promise<void> {
    const { app, panel } = this.options;
    await this.restored;
    if (this.wanted === 'bubble') {
      this.bubble?.open();
    } else {
      if (this.area() === null) {
        this.add(this.wanted);
      }
      app.shell.activateById(panel.id);
    }
    panel.takeFocus();
  }

  readonly hide = (): void => {
    const { app, panel } = this.options;
    const sides: JupyterFrontEnd.IShell & SideBars = app.shell;
    switch (this.wanted) {
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

  /** Out of the way when the cursor is in it; shown otherwise. */
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
    const [was, state] = this.options.keeper.read()?.split(' ') ?? [];
    await app.restored;
    // Not before: Notebook's shortcuts must have been read when settings with shortcuts are.
    this.settings = await settings();
    this.saved = this.chosen();
    this.settings?.changed.connect(this.onSettings, this);
    const place = this.places.find(known => known === was) ?? this.chosen();
    const open = was === undefined ? panel.isVisible : state === OPEN;
    if (!this.isRestored(place, open)) {
      await this.put(place, open);
    }
    this.arrived(place);
    panel.shownChanged.connect(this.remember, this);
    labShell?.layoutModified.connect(this.onLayout, this);
  }

  /** Whether the lab has put the panel there; Notebook does not, and the lab may remember a tab that was closed. */
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
          this.options.bubbleKeeper
        );
        this.bubble.take(open);
      } else {
        this.bubble?.leave();
        panel.dress(place);
        this.add(place, open);
        this.unfold(open);
      }
      this.wanted = place;
    } finally {
      this.moving = false;
    }
  }

  /** Show the panel in its side bar or as a tab; the cursor stays where it is. */
  private unfold(open: boolean): void {
    const { app, panel } = this.options;
    if (open) {
      panel.quietly(() => app.shell.activateById(panel.id));
    }
  }

  /** Add the panel to an area of the shell; a tab that was closed stays so. */
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

  /** The area of the shell the panel is in. */
  private area(): PanelLocation | null {
    const { app, panel } = this.options;
    const areas = this.places.filter(place => place !== 'bubble');
    return (
      areas.find(area => [...app.shell.widgets(area)].includes(panel)) ?? null
    );
  }

  private arrived(place: PanelLocation): void {
    this.wanted = place;
    this.options.panel.dress(place);
    this.remember();
    this.changed.emit();
  }

  /** The place in the settings, where this page has it. */
  private chosen(): PanelLocation {
    const chosen = this.settings?.get(PLACE).composite;
    return this.places.find(place => place === chosen) ?? 'right';
  }

  private save(): void {
    this.saved = this.wanted;
    this.settings?.set(PLACE, this.wanted).catch((error: unknown) => {
      console.warn('The place of the chat will not be remembered:', error);
    });
  }

  private readonly remember = (): void => {
    const { keeper, panel } = this.options;
    if (!this.moving) {
      const open = this.wanted === 'main' ? panel.isAttached : panel.isVisible;
      keeper.write(`${this.wanted} ${open ? OPEN : 'closed'}`);
    }
  };

  /** The place was changed in the settings. */
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

  /** The lab itself has commands that move what is in a side bar. */
  private readonly onLayout = (): void => {
    const area = this.area();
    if (!this.moving && area !== null && area !== this.wanted) {
      this.arrived(area);
      this.save();
    }
  };

  private restored = Promise.resolve();
  private wanted: PanelLocation = 'right';
  /** What the settings say, as far as this page has said or heard it. */
  private saved: PanelLocation = 'right';
  private moving = false;
  private bubble: Bubble | null = null;
  private settings: ISettingRegistry.ISettings | null = null;
}

const OPEN = 'open';
