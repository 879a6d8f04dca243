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
import { sparkIcon } from './icons';

/** What the panel shows. */
export interface IPanelOptions {
  host: IChatHost;
  conversations: IConversations;
  socket: IPageSocket;
}

/** The widget in the side bar. */
export class ChatWidget extends ReactWidget {
  constructor(
    private readonly options: IPanelOptions,
    trans: TranslationBundle
  ) {
    super();
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
    const { Panel } = this;
    return Panel === null ? null : (
      <Panel {...this.options} onReady={this.onReady} />
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
    import('../chat/ChatPanel')
      .then(module => {
        this.Panel = module.ChatPanel;
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
  private loading = false;
  private wantsFocus = false;
}
