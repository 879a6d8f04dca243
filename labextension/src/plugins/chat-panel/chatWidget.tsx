/** The chat panel as a JupyterLab widget; its content is loaded when it is first shown. Used by the chat plugin. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import * as React from 'react';

import type { PanelActions } from '../../chat/sessions/panelActions';
import type { IPanelPlacement, PanelLocation } from '../../host/panelPlacement';
import type { IPageSocket } from '../../client/socket';
import type { IConversations } from '../../model/conversations/interface';
import { EXTENSION_ID } from '../../tokens';
import type { ILabParts } from '../chat-host/labParts';
import { sparkIcon } from '../../lab/customIcons';

export interface IPanelOptions {
  conversations: IConversations;
  socket: IPageSocket;
  trans: TranslationBundle;
  /** Services for the panel's host. */
  parts: ILabParts;
}

/** The loaded panel and its actions. */
interface ILoaded {
  readonly view: () => React.JSX.Element;
  readonly actions: PanelActions;
}

/** The panel's widget, in any of its locations. */
export class ChatWidget extends ReactWidget {
  constructor(readonly options: IPanelOptions) {
    super();
    const { trans } = options;
    this.id = `${EXTENSION_ID}-chat`;
    this.title.caption = trans.__('AI chat');
    this.updateTab('right');
    this.addClass('shoulders-ChatWidget');
    options.conversations.changed.connect(this.markTab, this);
  }

  /** Emitted when the panel was shown or hidden. */
  readonly shownChanged = new Signal<this, void>(this);
  /** Where the panel is; set before it is first shown. */
  placement: IPanelPlacement | null = null;

  /** Actions of the panel; null until it is loaded. */
  get actions(): PanelActions | null {
    return this.loaded?.actions ?? null;
  }

  /** Actions of the panel; loads it if needed. */
  async ready(): Promise<PanelActions> {
    this.loading ??= this.load();
    const { actions } = await this.loading;
    return actions;
  }

  /** Focus the input. */
  focusInput(): void {
    this.node
      .querySelector<HTMLTextAreaElement>('.shoulders-Composer-field')
      ?.focus();
  }

  /** Adapt the tab to a location: side bars show only the icon. */
  updateTab(place: PanelLocation): void {
    const tab = place === 'main';
    const stylesheet = tab ? 'mainAreaTab' : 'sideBar';
    this.title.icon = sparkIcon.bindprops({ stylesheet });
    this.title.label = tab ? this.title.caption : '';
    this.title.closable = tab;
    if (!tab) {
      // JupyterLab sets the role of tabs itself.
      this.node.setAttribute('role', 'region');
      this.node.setAttribute('aria-label', this.title.caption);
    }
  }

  /** Focus the input, now or once it is loaded. */
  takeFocus(): void {
    this.quiet = false;
    this.wantsFocus = true;
    this.focusInput();
    this.activate(); // A shell may show it later.
  }

  /** Activate the panel without focusing its input. */
  quietly(act: () => void): void {
    this.quiet = true;
    act();
    // A shell may activate it one frame later.
    afterTwoFrames(() => {
      this.quiet = false;
    });
  }

  override dispose(): void {
    Signal.clearData(this);
    super.dispose();
  }

  protected override render(): React.JSX.Element | null {
    if (this.failed) {
      return <Failed trans={this.options.trans} again={this.startLoading} />;
    }
    return this.loaded === null ? null : <this.loaded.view />;
  }

  protected override onBeforeShow(message: Message): void {
    super.onBeforeShow(message);
    this.startLoading();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.shownChanged.emit();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.shownChanged.emit();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this.startLoading();
    }
    this.shownChanged.emit();
  }

  protected override onAfterDetach(message: Message): void {
    super.onAfterDetach(message);
    this.shownChanged.emit();
  }

  protected override onActivateRequest(): void {
    if (!this.quiet) {
      this.wantsFocus = true;
      this.focusInput();
      // A notebook activated just before, for example by the command palette, focuses its cell late.
      afterTwoFrames(() => {
        if (!this.node.contains(document.activeElement)) {
          this.focusInput();
        }
      });
    }
  }

  /** Show on the panel's tab that an open conversation runs or waits for the user. */
  private readonly markTab = (): void => {
    const { tabs, history } = this.options.conversations;
    const states = tabs.map(({ sessionId }) =>
      sessionId === null ? null : history.get(sessionId)?.status
    );
    const state = ['waiting', 'running'].find(each =>
      states.some(status => status === each)
    );
    const name = state === undefined ? '' : `shoulders-mod-${state}`;
    this.title.className = `shoulders-ChatTab ${name}`;
  };

  /** Load the panel if needed; shows errors in the panel. */
  private readonly startLoading = (): void => {
    this.ready().catch((error: unknown) => {
      console.error('The chat panel could not be loaded:', error);
    });
  };

  private async load(): Promise<ILoaded> {
    this.failed = false;
    try {
      this.loaded = await this.fetch();
      return this.loaded;
    } catch (error) {
      this.failed = true;
      this.loading = null; // Tried again at the next request.
      throw error;
    } finally {
      this.update();
    }
  }

  private async fetch(): Promise<ILoaded> {
    const { conversations, socket, parts } = this.options;
    void conversations.refresh();
    const [{ ChatPanel }, { PanelActions }, { createChatHost }] =
      await Promise.all([
        import('../../chat/ChatPanel'),
        import('../../chat/sessions/panelActions'),
        import('../chat-host/chatHost')
      ]);
    if (this.placement === null) {
      throw new Error('The panel is shown before it has a place.');
    }
    const host = createChatHost(parts, this.placement);
    const actions = new PanelActions(conversations, host);
    const all = { host, conversations, socket, actions, onReady: this.onReady };
    return { actions, view: () => <ChatPanel {...all} /> };
  }

  /** The panel was requested before it was loaded. */
  private readonly onReady = (): void => {
    if (this.wantsFocus) {
      this.focusInput();
    }
  };

  private loaded: ILoaded | null = null;
  private loading: Promise<ILoaded> | null = null;
  private failed = false;
  private wantsFocus = false;
  private quiet = false;
}

function afterTwoFrames(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}

/** Shown when the panel's code cannot be loaded: the server is down, or was updated. */
function Failed(props: {
  trans: TranslationBundle;
  again: () => void;
}): React.JSX.Element {
  const { trans, again } = props;
  return (
    <div className="shoulders-ChatWidget-failed" role="alert">
      <p>
        {trans.__(
          'The chat could not be loaded. Try again; if the server was updated, reload the page.'
        )}
      </p>
      <button type="button" className="jp-Button" onClick={again}>
        {trans.__('Try again')}
      </button>
    </div>
  );
}
