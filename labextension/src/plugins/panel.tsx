/** The chat panel as a lab widget; what it shows is loaded when it is first shown. Used by the chat plugin. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { ChatPanel } from '../chat/ChatPanel';
import type { IChatHost } from '../chat/host';
import type { IPageSocket } from '../client/socket';
import type { IConversations } from '../model/interface';
import { EXTENSION_ID } from '../tokens';
import type { ILabParts } from './labHost';
import { sparkIcon } from './ownIcon';

/** What the panel is made with. */
export interface IPanelOptions {
  conversations: IConversations;
  socket: IPageSocket;
  trans: TranslationBundle;
  /** What the page around it is made of. */
  parts: ILabParts;
}

/** The widget in the side bar. */
export class ChatWidget extends ReactWidget {
  constructor(private readonly options: IPanelOptions) {
    super();
    const { trans } = options;
    this.id = `${EXTENSION_ID}-chat`;
    this.title.icon = sparkIcon;
    this.title.caption = trans.__('AI chat');
    this.addClass('shoulders-ChatWidget');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('AI chat'));
  }

  /** Put the cursor into the input. */
  focusInput(): void {
    this.node
      .querySelector<HTMLTextAreaElement>('.shoulders-Composer-field')
      ?.focus();
  }

  protected override render(): React.JSX.Element | null {
    const { conversations, socket } = this.options;
    return this.Panel === null || this.host === null ? null : (
      <this.Panel
        host={this.host}
        conversations={conversations}
        socket={socket}
        onReady={this.onReady}
      />
    );
  }

  protected override onBeforeShow(message: Message): void {
    super.onBeforeShow(message);
    this.load();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this.load();
    }
  }

  protected override onActivateRequest(): void {
    this.wantsFocus = true;
    this.focusInput();
  }

  private load(): void {
    if (this.loading) {
      return;
    }
    this.loading = true;
    void this.options.conversations.refresh();
    Promise.all([import('../chat/ChatPanel'), import('./labHost')])
      .then(([{ ChatPanel }, { makeHost }]) => {
        this.host = makeHost(this.options.parts);
        this.Panel = ChatPanel;
        this.update();
      })
      .catch((error: unknown) => {
        this.loading = false; // Tried again when the panel is shown again.
        console.error('The chat panel could not be loaded:', error);
      });
  }

  /** The panel was asked for before it was there. */
  private readonly onReady = (): void => {
    if (this.wantsFocus) {
      this.focusInput();
    }
  };

  private Panel: typeof ChatPanel | null = null;
  private host: IChatHost | null = null;
  private loading = false;
  private wantsFocus = false;
}
