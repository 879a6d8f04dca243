/** The banner about a connection that is lost, or to a server that speaks another version of the wire format. */

import * as React from 'react';

import type { IPageSocket, SocketStatus } from '../client/socket';
import { Button } from '../ui/primitives';
import { useSignal, useTrans } from '../ui/hooks';

/** A closed socket is mentioned after this, in ms: a short break is nobody's concern. */
const PATIENCE = 2000;

export function ConnectionBanner({
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
