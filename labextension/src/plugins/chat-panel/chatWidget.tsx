/** The chat panel as a lab widget; what it shows is loaded when it is first shown. Used by the chat plugin. */

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

/** What the panel is made with. */
export interface IPanelOptions {
  conversations: IConversations;
  socket: IPageSocket;
  trans: TranslationBundle;
  /** What the page around it is made of. */
  parts: ILabParts;
}

/** The panel, once it is loaded: what it is, and what can be done in it. */
interface ILoaded {
  readonly view: () => React.JSX.Element;
  readonly actions: PanelActions;
}

/** The widget, wherever it is in the page. */
export class ChatWidget extends ReactWidget {
  constructor(readonly options: IPanelOptions) {
    super();
    const { trans } = options;
    this.id = `${EXTENSION_ID}-chat`;
    this.title.caption = trans.__('AI chat');
    this.dress('right');
    this.addClass('shoulders-ChatWidget');
    options.conversations.changed.connect(this.markTab, this);
  }

  /** Emitted when the panel was shown or hidden. */
  readonly shownChanged = new Signal<this, void>(this);
  /** Where the panel is; set before it is first shown. */
  dock: IPanelPlacement | null = null;

  /** What can be done in the panel; null until it was first shown or asked for. */
  get actions(): PanelActions | null {
    return this.loaded?.actions ?? null;
  }

  /** What can be done in the panel, which is loaded for it. */
  async ready(): Promise<PanelActions> {
    this.loading ??= this.load();
    const { actions } = await this.loading;
    return actions;
  }

  /** Put the cursor into the input. */
  focusInput(): void {
    this.node
      .querySelector<HTMLTextAreaElement>('.shoulders-Composer-field')
      ?.focus();
  }

  /** Look as a tab of the place does: a side bar shows the picture alone. */
  dress(place: PanelLocation): void {
    const tab = place === 'main';
    const stylesheet = tab ? 'mainAreaTab' : 'sideBar';
    this.title.icon = sparkIcon.bindprops({ stylesheet });
    this.title.label = tab ? this.title.caption : '';
    this.title.closable = tab;
    if (!tab) {
      // As a tab it is what the lab makes of it.
      this.node.setAttribute('role', 'region');
      this.node.setAttribute('aria-label', this.title.caption);
    }
  }

  /** Put the cursor into the input, now or when it is there. */
  takeFocus(): void {
    this.quiet = false;
    this.wantsFocus = true;
    this.focusInput();
    this.activate(); // A shell may show it a little later.
  }

  /** Do what activates the panel without putting the cursor into it. */
  quietly(act: () => void): void {
    this.quiet = true;
    act();
    // A shell may activate it after one more frame.
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
      return <Failed trans={this.options.trans} again={this.begin} />;
    }
    return this.loaded === null ? null : <this.loaded.view />;
  }

  protected override onBeforeShow(message: Message): void {
    super.onBeforeShow(message);
    this.begin();
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
      this.begin();
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
      // A notebook that was activated just before, by the command palette say, focuses its cell late.
      afterTwoFrames(() => {
        if (!this.node.contains(document.activeElement)) {
          this.focusInput();
        }
      });
    }
  }

  /** The panel's tab says that something goes on in a conversation that is open, or waits for the user. */
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

  /** Load the panel, if nobody has; what hinders it stands in the panel. */
  private readonly begin = (): void => {
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
      this.loading = null; // Tried again when it is asked for again.
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
    if (this.dock === null) {
      throw new Error('The panel is shown before it has a place.');
    }
    const host = createChatHost(parts, this.dock);
    const actions = new PanelActions(conversations, host);
    const all = { host, conversations, socket, actions, onReady: this.onReady };
    return { actions, view: () => <ChatPanel {...all} /> };
  }

  /** The panel was asked for before it was there. */
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

/** The panel's code did not come: the server is away, or was updated. */
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
