/** The follow plugin: scrolls to the agent's work if the preferences say so. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';

import type { Follower, IFollowerOptions } from '../follow/follower';
import {
  EXTENSION_ID,
  IConversations,
  IShouldersClient,
  TRANSLATION_DOMAIN
} from '../tokens';
import { sparkIcon } from '../lab/customIcons';

const ID = `${EXTENSION_ID}:follow`;

const COMMANDS = {
  toggle: `${EXTENSION_ID}:toggle-follow`,
  back: `${EXTENSION_ID}:back-to-agent`
} as const;

/** Scrolls to the cell or file the agent works in. */
export const follow: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Scrolls to the cell or file the agent works in.',
  autoStart: true,
  requires: [
    IShouldersClient,
    IConversations,
    INotebookTracker,
    IDocumentManager
  ],
  optional: [IEditorTracker, ISettingRegistry, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    client: IShouldersClient,
    conversations: IConversations,
    notebooks: INotebookTracker,
    documents: IDocumentManager,
    files: IEditorTracker | null,
    registry: ISettingRegistry | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    // Lives as long as the page.
    const following = new LazyFollower(conversations, {
      notebooks,
      files,
      documents,
      trans,
      frames: client.socket.frameReceived,
      icon: sparkIcon,
      front: () => app.shell.currentWidget
    });
    const changed = (): void => app.commands.notifyCommandChanged();
    following.changed = changed;
    app.shell.currentChanged?.connect(following.placeButton);
    void registry?.load(ID).then(settings => {
      const read = (): void => {
        following.enabled = settings.composite.follow !== false;
        changed();
      };
      following.save = enabled => settings.set('follow', enabled);
      settings.changed.connect(read);
      read();
    });
    const add = (command: string, options: CommandRegistry.ICommandOptions) => {
      app.commands.addCommand(command, {
        describedBy: { args: { type: 'object', properties: {} } },
        ...options
      });
      palette?.addItem({ command, category: trans.__('AI') });
    };
    add(COMMANDS.toggle, {
      label: trans.__('Follow the AI Agent'),
      isToggled: () => following.enabled,
      execute: () => following.toggle()
    });
    add(COMMANDS.back, {
      label: trans.__('Back to the AI Agent'),
      isEnabled: () => following.follower?.isAway === true,
      execute: () => following.follower?.resume()
    });
  }
};

/** Loads the follower with the first turn of the shown conversation. */
class LazyFollower {
  constructor(
    private readonly conversations: IConversations,
    private readonly options: IFollowerOptions
  ) {
    conversations.changed.connect(() => this.watchConversation());
  }

  /** Called when the state of the commands changes. */
  changed: () => void = () => undefined;

  /** Writes the preference; null without a settings registry. */
  save: ((enabled: boolean) => Promise<void>) | null = null;

  /** Null before the first turn. */
  get follower(): Follower | null {
    return this.loaded;
  }

  get enabled(): boolean {
    return this.wanted;
  }

  set enabled(enabled: boolean) {
    this.wanted = enabled;
    if (this.loaded !== null) {
      this.loaded.enabled = enabled;
    }
    this.watchConversation();
  }

  async toggle(): Promise<void> {
    const enabled = !this.wanted;
    this.enabled = enabled;
    this.changed();
    await this.save?.(enabled);
  }

  readonly placeButton = (): void => this.loaded?.placeButton();

  private watchConversation(): void {
    const { conversations, loaded } = this;
    const { key } = conversations.active;
    const status = conversations.session(key)?.status;
    const isAtWork = status === 'running' || status === 'waiting';
    if (loaded !== null) {
      loaded.watch(conversations.store(key));
    } else if (isAtWork && this.wanted) {
      this.loading ??= this.load();
    }
  }

  private async load(): Promise<void> {
    try {
      const { Follower } = await import('../follow/follower');
      this.loaded = new Follower(this.options);
      this.loaded.enabled = this.wanted;
      this.loaded.changed.connect(() => this.changed());
      this.watchConversation();
    } catch (error) {
      this.loading = null; // Tried again with the next turn.
      console.warn('The agent cannot be followed:', error);
    }
  }

  private wanted = true;
  private loaded: Follower | null = null;
  private loading: Promise<void> | null = null;
}
