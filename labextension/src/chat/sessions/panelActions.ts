/** Actions on whole conversations, for the panel's menus and the chat plugin's commands. Loaded with the panel. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IConversations } from '../../model/conversations/interface';
import { PanelState, type PanelList } from '../../model/sessions/panelState';
import { plainError, type ExportFormat } from '../../client/http';
import { isRunning, pendingCall } from '../../model/view-models/turnState';
import { appendToDraft } from '../../model/conversations/draftText';
import { legible, visible } from '../../text/hiddenCharacters';
import type {
  Anchor,
  CallView,
  Conversation,
  Session
} from '../../wire/generated';
import type { IChatHost } from '../../host/chatHost';
import type { IDocumentTarget } from '../../host/messageHost';
import { focusComposer } from '../../ui/hooks';

/** Longest file name made from a title, in characters. */
const NAME_LENGTH = 80;

// Characters that file systems or shells may treat specially.
const NOT_IN_NAMES =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\\/:*?"<>|\u0000-\u001f\u007f]+/g;

/** Half of a surrogate pair, as cutting may leave. */
const LONE_SURROGATE = /[\ud800-\udbff]$/;

/** A conversation's title; a placeholder before its first message. */
export function titleOf(
  session: Session | null,
  trans: TranslationBundle
): string {
  if (session !== null && session.title !== '') {
    return legible(session.title);
  }
  return session?.kind === 'task'
    ? trans.__('New thread')
    : trans.__('New conversation');
}

/** A title as a file name without extension. */
export function fileNameOf(title: string): string {
  const name = title.replace(NOT_IN_NAMES, '-').replace(/^[\s.-]+/, '');
  return (
    name.slice(0, NAME_LENGTH).replace(LONE_SURROGATE, '').trim() ||
    'conversation'
  );
}

/** The target to open for an anchor. */
export function targetOf(anchor: Anchor): IDocumentTarget {
  const { document, cell_id, range, target } = anchor;
  return {
    path: document,
    cellId: cell_id,
    range: target === 'source' ? range : null,
    part: target === 'output' ? 'output' : 'source'
  };
}

function isAtWork({ status }: Session): boolean {
  return status === 'running' || status === 'waiting';
}

/** The actions, and the panel state they change. */
export class PanelActions {
  constructor(
    readonly conversations: IConversations,
    private readonly host: IChatHost
  ) {
    conversations.revealed.connect(this.onRevealed, this);
  }

  readonly view = new PanelState();

  /** Show the form for a new schedule; null in a page without it. */
  get schedule(): IChatHost['schedule'] {
    return this.host.schedule;
  }

  /** The session of the active conversation; null before its first message. */
  get session(): Session | null {
    return this.conversations.session(this.conversations.active.key);
  }

  get canStop(): boolean {
    const { shown } = this;
    return shown !== undefined && isRunning(shown);
  }

  /** The call of the active conversation that waits for a decision. */
  get waitingCall(): CallView | null {
    const { shown } = this;
    const call = shown === undefined ? null : pendingCall(shown);
    return call?.state === 'waiting' ? call : null;
  }

  async stop(): Promise<void> {
    const { conversations } = this;
    await conversations.commands.cancel(conversations.active.key);
  }

  async answer(decision: 'allow' | 'deny'): Promise<void> {
    const { conversations, waitingCall } = this;
    if (waitingCall !== null) {
      const { key } = conversations.active;
      const { call_id } = waitingCall;
      await conversations.commands.answerApproval(key, call_id, { decision });
    }
  }

  /** Show a list instead of the conversation; null shows the conversation. */
  showList(list: PanelList | null): void {
    this.view.change({ list });
  }

  toggleList(list: PanelList): void {
    this.showList(this.view.state.list === list ? null : list);
  }

  create(): void {
    this.conversations.create();
    this.showList(null);
  }

  step(by: number): void {
    this.conversations.step(by);
    this.showList(null);
  }

  close(): void {
    this.conversations.close(this.conversations.active.key);
  }

  /** Append text to the draft, or send it. */
  async ask(text: string, send: boolean): Promise<void> {
    const { conversations } = this;
    const { key } = conversations.active;
    this.showList(null);
    if (send && text !== '') {
      await conversations.send(key, { text });
    } else if (text !== '') {
      const typed = conversations.draft(key);
      conversations.suggest(key, appendToDraft(typed, text));
    }
  }

  async forkThis(): Promise<void> {
    await this.withSession(session => this.fork(session));
  }

  async exportThis(format: ExportFormat): Promise<void> {
    await this.withSession(session => this.exportAs(session, format));
  }

  async removeThis(): Promise<void> {
    await this.withSession(session => this.remove(session));
  }

  /** Edit the title in the tab. */
  beginRename(): void {
    const { session } = this;
    if (session !== null) {
      this.view.change({ list: null, renaming: session.id });
    }
  }

  async rename(session: Session, title: string): Promise<void> {
    this.view.change({ renaming: null });
    if (title !== '' && title !== session.title) {
      await this.view.attempt(() =>
        this.conversations.rename(session.id, title)
      );
    }
  }

  async exportAs(session: Session, format: ExportFormat): Promise<void> {
    await this.view.attempt(async () => {
      const { host } = this;
      const name = fileNameOf(titleOf(session, host.trans));
      const file = await this.conversations.exportAs(session.id, format);
      host.save(`${name}.${format}`, file);
    });
  }

  async fork(session: Session): Promise<void> {
    await this.view.attempt(async () => {
      await this.conversations.fork(session.id);
      this.showList(null);
    });
  }

  /** Show a thread's anchor in its document; reports if it is gone. */
  async reveal(session: Session): Promise<void> {
    const { host, view } = this;
    const { anchor } = session;
    if (anchor === null) {
      return;
    }
    if (host.threads === null) {
      host.openTarget?.(targetOf(anchor));
      return;
    }
    const { trans, threads } = host;
    await view.attempt(async () => {
      if (!(await threads.reveal(session))) {
        const name = visible(anchor.document);
        view.change({
          error: {
            ...plainError(
              trans.__('The text of this thread is no longer in “%1”.', name),
              false
            ),
            hint: trans.__(
              'The thread keeps the quoted text and finds its place again if the text returns.'
            )
          }
        });
      }
    });
  }

  /** Resolve or reopen a thread; asks first while the agent is working. */
  async resolve(session: Session, isResolved: boolean): Promise<void> {
    const { conversations, host, view } = this;
    const { trans } = host;
    const sure =
      !isResolved ||
      !isAtWork(session) ||
      (await host.confirm(
        trans.__('Resolve this thread?'),
        trans.__('The agent is still working on it and will be stopped.'),
        trans.__('Resolve')
      ));
    if (sure) {
      await view.attempt(() =>
        conversations.threads.resolve(session.id, isResolved)
      );
    }
  }

  /** Delete a conversation; asks first for threads and running ones. It can be restored. */
  async remove(session: Session): Promise<void> {
    const { conversations, view } = this;
    if (await this.isSureToRemove(session)) {
      const wasOpen = conversations.tabs.some(
        tab => tab.sessionId === session.id
      );
      await view.attempt(async () => {
        await conversations.remove(session.id);
        view.change({ removed: { session, wasOpen } });
      });
    }
  }

  /** Restore the conversation deleted last. */
  async bringBack(): Promise<void> {
    const { conversations, view } = this;
    const { removed } = view.state;
    if (removed !== null) {
      await view.attempt(async () => {
        await conversations.undelete(removed.session.id);
        const { list } = view.state;
        if (removed.wasOpen) {
          conversations.open(removed.session.id);
        }
        view.change({ removed: null, list });
      });
    }
  }

  private async isSureToRemove(session: Session): Promise<boolean> {
    const { host } = this;
    const { trans } = host;
    const isThread = session.kind === 'task';
    if (!isThread && !isAtWork(session)) {
      return true;
    }
    return host.confirm(
      isThread
        ? trans.__('Delete this thread?')
        : trans.__('Delete this conversation?'),
      isAtWork(session)
        ? trans.__('The agent is still working on it and will be stopped.')
        : trans.__('Its mark is removed from the document for everyone.'),
      trans.__('Delete')
    );
  }

  /** Closes the list that covers a revealed conversation. */
  private readonly onRevealed = (): void => {
    this.showList(null);
    focusComposer();
  };

  /** Run an action on the active conversation, if its first message was sent. */
  private async withSession(
    act: (session: Session) => Promise<void>
  ): Promise<void> {
    const { session } = this;
    if (session !== null) {
      await act(session);
    }
  }

  private get shown(): Conversation | undefined {
    const { conversations } = this;
    return conversations.store(conversations.active.key)?.view;
  }
}
