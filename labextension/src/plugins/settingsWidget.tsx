/** The settings page as a JupyterLab widget, and its host. Loaded by the settings plugin when the page is opened. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import {
  Clipboard,
  Dialog,
  MainAreaWidget,
  showDialog,
  type WidgetTracker
} from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { Widget } from '@lumino/widgets';
import * as React from 'react';

import { OPEN_DATABASE } from '../agent-database/commandIds';
import { settingsApi } from '../settings/store/api';
import type { ISettingsHost } from '../settings/store/settingsHost';
import {
  isSection,
  SettingsPage,
  type Section
} from '../settings/SettingsPage';
import { SettingsStore } from '../settings/store/settingsStore';
import {
  EXTENSION_ID,
  type IConversations,
  type IFolderTrust,
  type IShouldersClient
} from '../tokens';
import { Icon } from '../lab/icons';
import { openInstructions } from '../lab/instructionsFile';
import { sparkIcon } from '../lab/customIcons';

/** Services the page needs. */
export interface ISettingsParts {
  readonly app: JupyterFrontEnd;
  readonly client: IShouldersClient;
  readonly conversations: IConversations;
  readonly folderTrust: IFolderTrust;
  readonly documents: IDocumentManager;
  readonly tracker: WidgetTracker;
  readonly trans: TranslationBundle;
  readonly area: 'main' | 'left';
}

/**
 * The settings page, created again after it was closed. Unsaved input survives until the browser page is reloaded.
 */
export class SettingsPageOpener {
  constructor(private readonly parts: ISettingsParts) {
    const { client, folderTrust } = parts;
    this.store = new SettingsStore(
      settingsApi(client.http),
      client.socket,
      folderTrust
    );
    this.host = makeHost(parts);
  }

  /** Show a section of the page; `add` opens the form for a new provider. */
  show(section: unknown, add = false): void {
    const page = this.opened();
    if (add) {
      page.add();
    } else if (isSection(section)) {
      page.go(section);
    }
    this.activate();
  }

  /** Show a section with the focus at its beginning. */
  read(section: Section): void {
    this.opened().read(section);
    this.activate();
  }

  private opened(): SettingsWidget {
    const { app, area, tracker, trans } = this.parts;
    if (this.page === null || this.page.isDisposed) {
      const made = new SettingsWidget(this.host, this.store, this.keep);
      made.disposed.connect(() => forgetKeys(this.store));
      this.page = made;
      this.frame = area === 'main' ? framed(made) : made;
      dress(this.frame, trans);
      app.shell.add(this.frame, area, { type: 'AI settings' });
      void tracker.add(this.frame);
    }
    return this.page;
  }

  private activate(): void {
    this.parts.app.shell.activateById(this.frame?.id ?? '');
  }

  /** The current section; restored after a reload. */
  get section(): Section | null {
    return this.page?.section ?? null;
  }

  private readonly keep = (): void => {
    if (this.frame !== null) {
      void this.parts.tracker.save(this.frame);
    }
  };

  private readonly store: SettingsStore;
  private readonly host: ISettingsHost;
  private page: SettingsWidget | null = null;
  private frame: Widget | null = null;
}

/** The page in the main area, without a toolbar. */
function framed(content: Widget): Widget {
  const frame = new MainAreaWidget({ content });
  frame.toolbar.hide();
  return frame;
}

function dress(frame: Widget, trans: TranslationBundle): void {
  frame.id = `${EXTENSION_ID}-settings`;
  frame.title.label = trans.__('AI Settings');
  frame.title.caption = trans.__('AI Settings');
  frame.title.icon = sparkIcon;
  frame.title.closable = true;
}

/** The page; reloads its data when shown again. */
class SettingsWidget extends ReactWidget {
  constructor(
    private readonly host: ISettingsHost,
    private readonly store: SettingsStore,
    private readonly changed: () => void
  ) {
    super();
    this.addClass('shoulders-SettingsWidget');
  }

  get section(): Section {
    return this.shown;
  }

  go(section: Section): void {
    this.shown = section;
    this.update();
    this.changed();
  }

  /** Show the form for a new provider. */
  add(): void {
    this.adds++;
    this.go('providers');
  }

  /** Show a part with the focus at its heading. */
  read(section: Section): void {
    this.reads++;
    this.go(section);
  }

  protected override render(): React.JSX.Element {
    return (
      <SettingsPage
        host={this.host}
        store={this.store}
        section={this.shown}
        reads={this.reads}
        adds={this.adds}
        onSection={section => this.go(section)}
      />
    );
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    // JupyterLab's frame sets another name.
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this.host.trans.__('AI settings'));
  }

  protected override onBeforeShow(message: Message): void {
    super.onBeforeShow(message);
    this.store.refresh();
  }

  protected override onActivateRequest(): void {
    const inside = this.node.contains(document.activeElement);
    if (!inside) {
      this.node
        .querySelector<HTMLElement>('[aria-current=page], select')
        ?.focus();
    }
  }

  private shown: Section = 'providers';
  /** Counts the calls of `read`. */
  private reads = 0;
  /** Counts the calls of `add`. */
  private adds = 0;
}

/** Unsaved API keys are dropped with the page. */
function forgetKeys({ drafts }: SettingsStore): void {
  drafts.names
    .filter(name => name.startsWith('key:'))
    .forEach(name => drafts.drop(name));
}

function makeHost(parts: ISettingsParts): ISettingsHost {
  const { app, conversations, documents, trans } = parts;
  const { commands } = app;
  const editor = 'settingeditor:open';
  return {
    trans,
    Icon,
    confirm: async (title, body, accept) => {
      const { button } = await showDialog({
        title,
        body,
        buttons: [
          Dialog.cancelButton({ label: trans.__('Cancel') }),
          Dialog.warnButton({ label: accept })
        ]
      });
      return button.accept;
    },
    serverAddress: app.serviceManager.serverSettings.baseUrl,
    openPage: () => {
      const page = window.open('', '_blank');
      if (page === null) {
        return null;
      }
      page.opener = null; // The page must not reach this one.
      return {
        go: address => page.location.replace(address),
        close: () => page.close()
      };
    },
    copy: text => Clipboard.copyToSystem(text),
    openDocument: path => {
      documents.openOrReveal(path);
    },
    openInstructions: () =>
      openInstructions(app.serviceManager.contents, documents, trans),
    openDatabase: commands.hasCommand(OPEN_DATABASE)
      ? () => void commands.execute(OPEN_DATABASE)
      : null,
    openConversation: sessionId => {
      conversations.open(sessionId);
      void commands.execute(`${EXTENSION_ID}:focus-chat`);
    },
    openEditor: commands.hasCommand(editor)
      ? what => {
          const query = what === 'shortcuts' ? 'Keyboard Shortcuts' : 'AI ';
          void commands.execute(editor, { query });
        }
      : null
  };
}
