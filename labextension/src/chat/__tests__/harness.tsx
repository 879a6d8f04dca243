/** Renders views with a fake host and a server in memory; records actions of the host. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { render } from '@testing-library/react';
import * as React from 'react';

import { Conversations } from '../../model/conversations/conversations';
import { FakeServer, FakeSocket, settled } from '../../model/__tests__/fakes';
import type { IReview } from '../../host/review';
import type { IThreadLocations } from '../../host/threadLocations';
import type { IFolderTrust } from '../../host/folderTrust';
import type { Event, PendingEdit, SavedProvider } from '../../wire/generated';
import { ChatPanel } from '../ChatPanel';
import type { IChatHost, IEditorContext } from '../../host/chatHost';
import {
  PANEL_LOCATIONS,
  type IPanelPlacement,
  type PanelLocation
} from '../../host/panelPlacement';
import type { IOpenDocumentTexts } from '../../host/threadsHost';
import { HostContext, TabContext } from '../../ui/hooks';
import { FakeInputHost } from './fakeInputHost';

// jsdom has no layout, so there is nothing to scroll.
Element.prototype.scrollIntoView = () => {};

const fill = (text: string, args: unknown[]): string =>
  text.replace(/%(\d)/g, (_, index: string) => String(args[Number(index) - 1]));

// The members that the views use.
const trans = {
  __: (text: string, ...args: unknown[]) => fill(text, args),
  _n: (one: string, many: string, n: number, ...args: unknown[]) =>
    fill(n === 1 ? one : many, [n, ...args])
} as unknown as TranslationBundle;

const nowhere: IEditorContext = {
  document: null,
  cell: null,
  selection: null,
  openDocuments: []
};

/** The agent's changes: `edits` wait for a decision, `done` records decisions. */
export class FakeReview implements IReview {
  readonly changed = new Signal<this, void>(this);
  readonly done: unknown[][] = [];
  edits: readonly PendingEdit[] = [];
  /** Thrown by the next decision. */
  failure: Error | null = null;

  have(...edits: PendingEdit[]): void {
    this.edits = edits;
    this.changed.emit();
  }
  countOf({ hunks }: PendingEdit): number {
    return Math.max(1, hunks.length);
  }
  async decide(
    edits: readonly PendingEdit[],
    decision: 'keep' | 'undo'
  ): Promise<void> {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) {
      throw failure;
    }
    this.done.push([decision, ...edits.map(({ id }) => id)]);
  }
  async reveal({ id }: PendingEdit): Promise<void> {
    this.done.push(['reveal', id]);
  }
}

/** The position of the panel. */
export class FakeDock implements IPanelPlacement {
  readonly locations = PANEL_LOCATIONS;
  readonly changed = new Signal<this, void>(this);
  location: PanelLocation = 'right';
  hidden = false;

  readonly moveTo = async (place: PanelLocation): Promise<void> => {
    this.location = place;
    this.changed.emit();
  };
  readonly hide = (): void => {
    this.hidden = true;
  };
}

/** The host; `done` records its calls. */
export class FakeHost extends FakeInputHost implements IChatHost {
  readonly trans = trans;
  readonly done: unknown[][] = [];
  readonly situationChanged = new Signal<this, void>(this);
  readonly review = new FakeReview();
  threads: IThreadLocations | null = null;
  texts: IOpenDocumentTexts | null = null;
  situation = nowhere;
  readonly dock = new FakeDock();
  sure = true;

  readonly Icon = ({ name }: { name: string }): React.JSX.Element => (
    <i data-icon={name} />
  );
  readonly openDocument = (...args: unknown[]): void => this.note('open', args);
  readonly insertBelow = (...args: unknown[]): boolean => {
    this.note('insert', args);
    return true;
  };
  readonly openTarget = (...args: unknown[]): void => this.note('target', args);
  readonly replaceCell = (...args: unknown[]): boolean => {
    this.note('replace', args);
    return true;
  };
  readonly newFile = async (...args: unknown[]): Promise<void> =>
    this.note('file', args);
  readonly typeset = async (
    element: HTMLElement,
    tex: string,
    display: boolean
  ): Promise<void> => {
    this.note('typeset', [tex, display]);
    element.replaceChildren(document.createElement('mjx-container'));
  };
  /** Images of the workspace. */
  readonly pictures = new Map<string, Blob>();
  readonly readImage = async (path: string): Promise<Blob> => {
    const found = this.pictures.get(path);
    if (found === undefined) {
      throw new Error(`no ${path}`);
    }
    return found;
  };
  readonly save = (name: string): void => this.note('save', [name]);
  readonly copy = (text: string): void => this.note('copy', [text]);
  readonly highlight = async (
    code: string,
    language: string,
    into: HTMLElement
  ): Promise<void> => {
    const span = document.createElement('span');
    span.dataset.language = language;
    span.textContent = code;
    into.replaceChildren(span);
  };
  folderTrust: IFolderTrust | null = null;
  readonly reviewFolder = (): void => this.note('review folder', []);
  keySaved: SavedProvider = { stored: true, provider: null, test: null };
  readonly setKey = async (...args: unknown[]): Promise<SavedProvider> => {
    this.note('key', args);
    return this.keySaved;
  };
  readonly restartKernel = (path: string): void => this.note('restart', [path]);
  readonly confirm = async (): Promise<boolean> => this.sure;

  look(change: Partial<IEditorContext>): void {
    this.situation = { ...this.situation, ...change };
    this.situationChanged.emit();
  }

  private note(what: string, args: unknown[]): void {
    this.done.push([what, ...args]);
  }
}

/** Render one view with the host. */
export function show(view: React.JSX.Element) {
  const { host, server, conversations } = world();
  const place = { conversations, tab: conversations.active.key };
  const wrapper = (props: { children: React.ReactNode }): React.JSX.Element => (
    <HostContext.Provider value={host}>
      <TabContext.Provider value={place}>{props.children}</TabContext.Provider>
    </HostContext.Provider>
  );
  return { ...render(view, { wrapper }), host, server };
}

/** Render the whole panel with a conversation that has this log. */
export async function showPanel(
  log: readonly Event[] = [],
  prepare: (server: FakeServer, host: FakeHost) => void = () => {}
) {
  const { host, server, socket, conversations } = world();
  prepare(server, host);
  if (log.length > 0) {
    server.logs.set('s1', [...log]);
    conversations.open('s1');
    conversations.close(conversations.tabs[0]?.key ?? '');
  }
  void conversations.refresh();
  const panel = render(
    <ChatPanel host={host} conversations={conversations} socket={socket} />
  );
  await act(settled);
  return { ...panel, host, server, socket, conversations };
}

/** Wait until everything started has settled and is rendered. */
export async function act(work: () => Promise<void> | void): Promise<void> {
  await React.act(async () => {
    await work();
    await settled();
  });
}

/** Wait for the next frame, in which the focus moves. */
export function frame(): Promise<void> {
  return act(async () => {
    await new Promise(requestAnimationFrame);
  });
}

function world() {
  const host = new FakeHost();
  const server = new FakeServer();
  const socket = new FakeSocket();
  let count = 0;
  const conversations = new Conversations({
    http: server,
    socket,
    storage: { read: () => null, write: () => {} },
    newId: () => `id-${count++}`,
    schedule: callback => callback()
  });
  return { host, server, socket, conversations };
}
