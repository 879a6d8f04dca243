/** The chat panel's root: header, banners, and the conversation or the history. Loaded when the panel is first shown. */

import './styles';

import * as React from 'react';

import type { IPageSocket, SocketStatus } from '../client/socket';
import type { IConversations } from '../model/interface';
import { ServerProblems } from './Banners';
import { ConversationView } from './ConversationView';
import { Header } from './Header';
import { History } from './History';
import type { IChatHost } from './host';
import { Button } from './parts';
import {
  HostContext,
  PlaceContext,
  useSignal,
  useSignalVersion,
  useTrans
} from './use';

/** A closed socket is mentioned after this, in ms: a short break is nobody's concern. */
const PATIENCE = 2000;

export function ChatPanel(props: {
  host: IChatHost;
  conversations: IConversations;
  socket: IPageSocket;
  /** Called once the panel can be used. */
  onReady?: () => void;
}): React.JSX.Element {
  const { host, conversations, socket, onReady } = props;
  React.useEffect(() => onReady?.(), [onReady]);
  useSignalVersion(conversations.changed);
  const [showsHistory, setShowsHistory] = React.useState(false);
  const tab = conversations.active.key;
  const place = React.useMemo(
    () => ({ conversations, tab }),
    [conversations, tab]
  );
  return (
    <HostContext.Provider value={host}>
      <PlaceContext.Provider value={place}>
        <div className="shoulders-Chat">
          <Header showsHistory={showsHistory} onHistory={setShowsHistory} />
          <Connection socket={socket} />
          <ServerProblems />
          {showsHistory ? (
            <History onOpen={() => setShowsHistory(false)} />
          ) : (
            <ConversationView key={tab} />
          )}
        </div>
      </PlaceContext.Provider>
    </HostContext.Provider>
  );
}

/** The banner about a lost or outdated connection. */
function Connection({
  socket
}: {
  socket: IPageSocket;
}): React.JSX.Element | null {
  const trans = useTrans();
  const status = useSignal(socket.statusChanged, () => socket.status);
  const lost = useLost(status);
  if (status === 'reload') {
    return (
      <div className="shoulders-Banner" role="alert">
        <span>
          {trans.__('The server was updated. Reload the page to go on.')}
        </span>
        <Button kind="primary" onClick={() => window.location.reload()}>
          {trans.__('Reload')}
        </Button>
      </div>
    );
  }
  return lost ? (
    <div className="shoulders-Banner" role="alert">
      <span>
        {trans.__('No connection to the server. The agent goes on working.')}
      </span>
      <Button onClick={() => socket.reconnect()}>
        {trans.__('Connect now')}
      </Button>
    </div>
  ) : null;
}

/** Whether the connection has been gone for a while. */
function useLost(status: SocketStatus): boolean {
  const away = status === 'closed' || status === 'connecting';
  const [lost, setLost] = React.useState(false);
  React.useEffect(() => {
    if (!away) {
      return;
    }
    const timer = setTimeout(() => setLost(true), PATIENCE);
    return () => {
      clearTimeout(timer);
      setLost(false);
    };
  }, [away]);
  return lost;
}
