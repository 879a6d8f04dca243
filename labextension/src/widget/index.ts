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
const CONTAINED_EVENTS = [
  'keydown',
  'keypress',
  'keyup',
  'copy',
  'cut',
  'paste'
] as const;

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
      storage: singleSessionStorage(this.sessionId, newId),
      newId
    });
    this.review = new PendingEditsStore(http, this.socket);
    const tree = createShadowTree(element);
    const services = findPageServices(model, tree);
    this.frame = createFrame(tree, services.trans);
    const { review, frame, situation: editorContext } = this;
    this.host = createWidgetHost(
      { http, review, services, root: frame },
      editorContext
    );
    this.stopTheme = followTheme(frame, element);
    this.root = createRoot(frame);
    this.listen();
    this.render();
  }

  dispose(): void {
    this.model.off('change:session_id', this.showSession);
    this.model.off('change:notebook', this.updateNotebook);
    this.model.off('change:transcript', this.render);
    CONTAINED_EVENTS.forEach(type =>
      this.element.removeEventListener(type, stopPropagation)
    );
    this.stopTheme();
    this.root.unmount();
    this.conversations.dispose();
    this.review.dispose();
    this.situation.dispose();
    this.socket.dispose();
    this.relay.dispose();
  }

  private listen(): void {
    this.model.on('change:session_id', this.showSession);
    this.model.on('change:notebook', this.updateNotebook);
    this.model.on('change:transcript', this.render);
    this.relay.changed.connect(this.onKernelStatus);
    this.conversations.changed.connect(this.reportSession);
    CONTAINED_EVENTS.forEach(type =>
      this.element.addEventListener(type, stopPropagation)
    );
    this.updateNotebook();
  }

  /** The kernel responded. */
  private readonly onKernelStatus = (): void => {
    this.updateNotebook();
    if (this.relay.status.kind === 'ready' && this.socket.status !== 'open') {
      this.socket.reconnect();
    }
    if (this.relay.status.kind === 'ready' && !this.wasReady) {
      this.wasReady = true;
      void this.conversations.refresh();
      this.render();
    }
  };

  /** Set the notebook that contains the panel. */
  private readonly updateNotebook = (): void => {
    const named = this.model.get('notebook');
    this.situation.setDocument(
      typeof named === 'string' ? named : this.relay.notebook
    );
  };

  /** Show the conversation set by the kernel or another view. */
  private readonly showSession = (): void => {
    const { sessionId, conversations } = this;
    if (sessionId !== null && conversations.active.sessionId !== sessionId) {
      conversations.open(sessionId);
    }
  };

  /** Tell the kernel which conversation is shown, so that it saves that transcript. */
  private readonly reportSession = (): void => {
    const shown = this.conversations.active.sessionId;
    if (shown !== null && shown !== this.sessionId) {
      this.model.set('session_id', shown);
      this.model.save_changes();
    }
  };

  private readonly render = (): void => {
    const { relay, host, conversations, socket, wasReady, frame } = this;
    const held = this.model.get('transcript');
    const transcript = typeof held === 'string' ? held : '';
    const all = { relay, host, conversations, socket, wasReady, frame };
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
  private readonly stopTheme: () => void;
  private readonly situation = new WidgetEditorContext();
  private wasReady = false;
}

/** Called by anywidget for each view. */
export function render(place: { model: IModel; el: HTMLElement }): () => void {
  const view = new WidgetView(place.model, place.el);
  return () => view.dispose();
}

export default { render };

function stopPropagation(event: Event): void {
  event.stopPropagation();
}

/** Create the shadow tree of the panel, which isolates its styles from the page's. */
function createShadowTree(element: HTMLElement): ShadowRoot {
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

function createFrame(tree: ShadowRoot, trans: TranslationBundle): HTMLElement {
  const frame = document.createElement('div');
  frame.className = 'shoulders-Widget';
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', trans.__('AI panel'));
  tree.append(frame);
  return frame;
}

/** Starts with the widget's conversation. Open tabs are not saved: the widget itself is. */
function singleSessionStorage(
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
