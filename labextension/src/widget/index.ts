/**
 * The chat panel in a notebook's output: the module that the kernel's widget passes to anywidget. It shows the same
 * views on the same model as the lab panel; only the host and the connection differ.
 */

import '../../style/widget/colours.css';
import '../../style/widget/panel.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import * as React from 'react';
import { createRoot, type Root } from 'react-dom/client';

import type { IChatHost } from '../host/chatHost';
import { HttpClient } from '../client/http';
import { PageSocket } from '../client/socket';
import { Conversations } from '../model/conversations/conversations';
import type { IStateStorage } from '../model/conversations/persistedState';
import { PendingEditsStore } from '../review/pendingEdits';
import { createWidgetHost, WidgetEditorContext } from './host';
import type { IModel } from './protocol';
import { Relay } from './relay';
import { findPageServices } from './pageServices';
import { followTheme } from './theme';
import { WidgetPanel } from './WidgetPanel';

/** The style sheets above as text for the shadow tree; `vite.widget.config.mts` replaces this mark. */
const STYLES = '__SHOULDERS_STYLES__';

/** Events kept inside the panel: the notebook's shortcuts would run or delete cells. */
const KEPT = ['keydown', 'keypress', 'keyup', 'copy', 'cut', 'paste'] as const;

/** One view of the widget. */
export class WidgetView {
  constructor(
    private readonly model: IModel,
    private readonly element: HTMLElement
  ) {
    const newId = (): string => UUID.uuid4();
    this.relay = new Relay({ model, newId });
    this.socket = new PageSocket({
      clientId: newId(),
      connect: this.relay.connect
    });
    const http = new HttpClient(this.relay.fetch);
    this.conversations = new Conversations({
      http,
      socket: this.socket,
      keeper: keeperOf(this.sessionId, newId),
      newId
    });
    this.review = new PendingEditsStore(http, this.socket);
    const tree = makeTree(element);
    const surroundings = findPageServices(model, tree);
    this.frame = makeFrame(tree, surroundings.trans);
    const { review, frame, situation } = this;
    this.host = createWidgetHost(
      { http, review, surroundings, root: frame },
      situation
    );
    this.leaveTheme = followTheme(frame, element);
    this.root = createRoot(frame);
    this.listen();
    this.draw();
  }

  dispose(): void {
    this.model.off('change:session_id', this.follow);
    this.model.off('change:notebook', this.attach);
    this.model.off('change:transcript', this.draw);
    KEPT.forEach(type => this.element.removeEventListener(type, keep));
    this.leaveTheme();
    this.root.unmount();
    this.conversations.dispose();
    this.review.dispose();
    this.situation.dispose();
    this.socket.dispose();
    this.relay.dispose();
  }

  private listen(): void {
    this.model.on('change:session_id', this.follow);
    this.model.on('change:notebook', this.attach);
    this.model.on('change:transcript', this.draw);
    this.relay.changed.connect(this.attend);
    this.conversations.changed.connect(this.tell);
    KEPT.forEach(type => this.element.addEventListener(type, keep));
    this.attach();
  }

  /** The kernel responded. */
  private readonly attend = (): void => {
    this.attach();
    if (this.relay.standing.kind === 'ready' && this.socket.status !== 'open') {
      this.socket.reconnect();
    }
    if (this.relay.standing.kind === 'ready' && !this.begun) {
      this.begun = true;
      void this.conversations.refresh();
      this.draw();
    }
  };

  /** Set the notebook that contains the panel. */
  private readonly attach = (): void => {
    const named = this.model.get('notebook');
    this.situation.show(
      typeof named === 'string' ? named : this.relay.notebook
    );
  };

  /** Show the conversation set by the kernel or another view. */
  private readonly follow = (): void => {
    const { sessionId, conversations } = this;
    if (sessionId !== null && conversations.active.sessionId !== sessionId) {
      conversations.open(sessionId);
    }
  };

  /** Tell the kernel which conversation is shown, so that it saves that transcript. */
  private readonly tell = (): void => {
    const shown = this.conversations.active.sessionId;
    if (shown !== null && shown !== this.sessionId) {
      this.model.set('session_id', shown);
      this.model.save_changes();
    }
  };

  private readonly draw = (): void => {
    const { relay, host, conversations, socket, begun, frame } = this;
    const held = this.model.get('transcript');
    const transcript = typeof held === 'string' ? held : '';
    const all = { relay, host, conversations, socket, begun, frame };
    this.root.render(React.createElement(WidgetPanel, { ...all, transcript }));
  };

  private get sessionId(): string | null {
    const id = this.model.get('session_id');
    return typeof id === 'string' && id !== '' ? id : null;
  }

  private readonly relay: Relay;
  private readonly socket: PageSocket;
  private readonly conversations: Conversations;
  private readonly review: PendingEditsStore;
  private readonly host: IChatHost;
  private readonly frame: HTMLElement;
  private readonly root: Root;
  private readonly leaveTheme: () => void;
  private readonly situation = new WidgetEditorContext();
  private begun = false;
}

/** Called by anywidget for each view. */
export function render(place: { model: IModel; el: HTMLElement }): () => void {
  const view = new WidgetView(place.model, place.el);
  return () => view.dispose();
}

export default { render };

function keep(event: Event): void {
  event.stopPropagation();
}

/** Create the shadow tree of the panel, which isolates its styles from the page's. */
function makeTree(element: HTMLElement): ShadowRoot {
  element.classList.add('shoulders-WidgetHost');
  element.dataset.lmSuppressShortcuts = 'true';
  const inner = document.createElement('div');
  element.replaceChildren(inner);
  const shadow = inner.attachShadow({ mode: 'open' });
  const style = document.createElement('style');
  style.textContent = STYLES;
  shadow.append(style);
  return shadow;
}

function makeFrame(tree: ShadowRoot, trans: TranslationBundle): HTMLElement {
  const frame = document.createElement('div');
  frame.className = 'shoulders-Widget';
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', trans.__('AI panel'));
  tree.append(frame);
  return frame;
}

/** Starts with the widget's conversation. Open tabs are not saved: the widget itself is. */
function keeperOf(
  sessionId: string | null,
  newId: () => string
): IStateStorage {
  const key = newId();
  const first =
    sessionId === null
      ? null
      : JSON.stringify({ version: 1, tabs: [{ key, sessionId }], active: key });
  return {
    read: () => first,
    write: () => {
      // See above.
    }
  };
}
