/** Banners above the messages: connection, problems of the server or conversation, questions elsewhere, folder trust. */

import * as React from 'react';

import type { ConversationStore } from '../model/sessions/conversationStore';
import type { IPendingMessage } from '../model/sessions/outbox';
import { isAbandoned } from '../model/view-models/conversationItems';
import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import type { ErrorInfo } from '../wire/generated';
import { fileNameOf, titleOf } from './sessions/panelActions';
import { useServerAnswer } from '../ui/useServerAnswer';
import { Button, ErrorNote } from '../ui/primitives';
import {
  useAction,
  useHost,
  useTabContext,
  useTrans,
  useSignal,
  focusComposer,
  useRestoreFocus,
  useSignalVersion
} from '../ui/hooks';
import type { IPageSocket, SocketStatus } from '../client/socket';
import type { IFolderTrust } from '../host/folderTrust';
import { trustSentence } from '../trust/summary';

/** Storage, usage accounting or tools of a package are broken. */
export function ServerProblems(): React.JSX.Element | null {
  const { conversations } = useTabContext();
  const { status } = conversations;
  return (
    <>
      <ServerProblem error={status?.state_directory_error ?? null} />
      <ServerProblem error={status?.usage_error ?? null} />
      {status?.package_errors.map(error => (
        <ServerProblem key={error.message} error={error} />
      ))}
    </>
  );
}

function ServerProblem(props: {
  error: ErrorInfo | null;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { conversations } = useTabContext();
  const { busy, run } = useAction();
  const { error } = props;
  return error === null ? null : (
    <div className="shoulders-Banner" role="alert">
      <span className="shoulders-Banner-text">
        {visible(serverText(trans, error.message))}
        {error.hint !== null && (
          <span className="shoulders-Banner-hint">
            {visible(serverText(trans, error.hint))}
          </span>
        )}
      </span>
      <Button
        disabled={busy}
        onClick={() => run(() => conversations.refresh())}
      >
        {trans.__('Check again')}
      </Button>
    </div>
  );
}

/** Why a conversation is read-only. */
export type Closed = 'deleted' | 'damaged' | 'aside';

/** Why a conversation is read-only; null if it is not. */
export function closedBecause(
  deleted: boolean,
  store: ConversationStore | null,
  outbox: readonly IPendingMessage[]
): Closed | null {
  if (deleted) {
    return 'deleted';
  }
  if (store?.isDamaged === true || store?.error?.code === 'quarantined') {
    return 'damaged';
  }
  const refused = outbox.some(({ error }) => error?.code === 'quarantined');
  return refused || (store !== null && isAbandoned(store.view))
    ? 'aside'
    : null;
}

/** Says why, and what can be done. */
export function ClosedBanner(props: {
  because: Closed | null;
}): React.JSX.Element | null {
  switch (props.because) {
    case 'deleted':
      return <DeletedBanner />;
    case 'damaged':
    case 'aside':
      return <ReadOnlyBanner because={props.because} />;
    case null:
      return null;
  }
}

function DeletedBanner(): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { busy, error, run } = useAction();
  const sessionId = conversations.tabs.find(
    ({ key }) => key === tab
  )?.sessionId;
  return (
    <div className="shoulders-Banner" role="status">
      <span className="shoulders-Banner-text">
        {trans.__('This conversation was deleted.')}
      </span>
      <Button
        disabled={busy}
        onClick={() => run(() => conversations.undelete(sessionId ?? ''))}
      >
        {trans.__('Restore')}
      </Button>
      <Button onClick={() => conversations.close(tab)}>
        {trans.__('Close')}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

function ReadOnlyBanner(props: {
  because: 'damaged' | 'aside';
}): React.JSX.Element {
  const { save } = useHost();
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const title = titleOf(conversations.session(tab), trans);
  const exported = useExport();
  return (
    <div className="shoulders-Banner" role="status">
      <span className="shoulders-Banner-text">
        {trans.__('This conversation is read-only.')}
        <span className="shoulders-Banner-hint">
          {props.because === 'damaged'
            ? trans.__(
                'Part of its log cannot be read by this version and is not shown. Continue in a new conversation.'
              )
            : trans.__(
                'The server can no longer continue it. Start a new conversation.'
              )}
        </span>
      </span>
      {exported !== null && (
        <Button onClick={() => save(`${fileNameOf(title)}.md`, exported)}>
          {trans.__('Export')}
        </Button>
      )}
      <Button onClick={() => conversations.create()}>
        {trans.__('New conversation')}
      </Button>
    </div>
  );
}

/** The conversation as a file; null if the server cannot export it. */
function useExport(): Blob | null {
  const { conversations, tab } = useTabContext();
  return useServerAnswer(tab, () => conversations.commands.exportAs(tab, 'md'))
    .answer;
}

/** Delay before a closed socket is reported, in ms; short breaks are not. */
const REPORT_DELAY = 2000;

export function ConnectionBanner({
  socket
}: {
  socket: IPageSocket;
}): React.JSX.Element | null {
  const trans = useTrans();
  const status = useSignal(socket.statusChanged, () => socket.status);
  const lost = useIsDisconnected(status);
  if (status === 'reload') {
    return (
      <div className="shoulders-Banner" role="alert">
        <span className="shoulders-Banner-text">
          {trans.__('The server was updated. Reload the page to continue.')}
        </span>
        <Button kind="primary" onClick={() => window.location.reload()}>
          {trans.__('Reload')}
        </Button>
      </div>
    );
  }
  return lost ? (
    <div className="shoulders-Banner shoulders-mod-connection" role="alert">
      <span className="shoulders-Banner-text">
        {trans.__('Disconnected from the server. The agent keeps working.')}
      </span>
      <Button onClick={() => socket.reconnect()}>
        {trans.__('Reconnect now')}
      </Button>
    </div>
  ) : null;
}

/** Whether the connection has been lost for a while. */
function useIsDisconnected(status: SocketStatus): boolean {
  const away = status === 'closed' || status === 'connecting';
  const [lost, setLost] = React.useState(false);
  React.useEffect(() => {
    if (!away) {
      return;
    }
    const timer = setTimeout(() => setLost(true), REPORT_DELAY);
    return () => {
      clearTimeout(timer);
      setLost(false);
    };
  }, [away]);
  return lost;
}

/** Leads to a conversation that asks something while another one is shown. Threads are marked in their documents. */
export function WaitingBar(): React.JSX.Element | null {
  const trans = useTrans();
  const { conversations } = useTabContext();
  useSignalVersion(conversations.history.changed);
  const shown = conversations.active.sessionId;
  const waiting = conversations.history.all.filter(
    ({ id, kind, status }) =>
      status === 'waiting' && kind !== 'task' && id !== shown
  );
  const first = waiting[0];
  return first === undefined ? null : (
    <section
      className="shoulders-TrustBar"
      aria-label={trans.__('Questions in other conversations')}
    >
      <span className="shoulders-TrustBar-text" role="status">
        {waiting.length === 1
          ? trans.__('“%1” waits for your answer.', titleOf(first, trans))
          : trans._n(
              '%1 other conversation waits for your answer.',
              '%1 other conversations wait for your answers.',
              waiting.length
            )}
      </span>
      <Button onClick={() => conversations.open(first.id)}>
        {trans.__('Show')}
      </Button>
    </section>
  );
}

export function FolderTrustBar(): React.JSX.Element | null {
  const { folderTrust } = useHost();
  return folderTrust === null ? null : <Announced trust={folderTrust} />;
}

function Announced({
  trust
}: {
  trust: IFolderTrust;
}): React.JSX.Element | null {
  useSignalVersion(trust.changed);
  React.useEffect(() => trust.view.ensureLoaded(), [trust]);
  return trust.announced.length === 0 ? null : <Bar trust={trust} />;
}

function Bar({ trust }: { trust: IFolderTrust }): React.JSX.Element {
  const trans = useTrans();
  const { reviewFolder } = useHost();
  const ref = useRestoreFocus<HTMLElement>();
  return (
    <section
      className="shoulders-TrustBar"
      aria-label={trans.__('This folder’s settings')}
      ref={ref}
    >
      <span className="shoulders-TrustBar-text" role="status">
        {trustSentence(trust.announced, trans)}
      </span>
      <div className="shoulders-TrustBar-actions">
        <Button onClick={reviewFolder}>{trans.__('Review…')}</Button>
        <Button
          onClick={() => {
            trust.dismiss();
            focusComposer();
          }}
        >
          {trans.__('Not now')}
        </Button>
      </div>
    </section>
  );
}
