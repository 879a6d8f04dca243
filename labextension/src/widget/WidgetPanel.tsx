/** A panel in a notebook's output: the chat once the kernel answers, how it stands before and after, else a transcript. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { ChatPanel } from '../chat/ChatPanel';
import type { IChatHost } from '../host/chatHost';
import { useSignal } from '../ui/hooks';
import type { IPageSocket } from '../client/socket';
import type { IConversations } from '../model/conversations/interface';
import type { Relay, RelayStatus } from './relay';
import { Transcript } from './Transcript';

export function WidgetPanel(props: {
  relay: Relay;
  host: IChatHost;
  conversations: IConversations;
  socket: IPageSocket;
  /** Whether the chat was ever there: then it stays, with what is written in it. */
  begun: boolean;
  /** The conversation as the kernel wrote it down last. */
  transcript: string;
  /** Where the panel is; it is small while there is but a note. */
  frame: HTMLElement;
}): React.JSX.Element {
  const { relay, host, conversations, socket, begun, transcript, frame } =
    props;
  const standing = useSignal(relay.changed, () => relay.standing);
  const isEmpty = !begun && transcript === '';
  React.useLayoutEffect(() => {
    frame.classList.toggle('shoulders-mod-note', !begun);
  }, [frame, begun]);
  return (
    <>
      <Note
        standing={standing}
        begun={begun}
        trans={host.trans}
        retry={relay.hello}
      />
      {begun ? (
        <ChatPanel host={host} conversations={conversations} socket={socket} />
      ) : (
        !isEmpty &&
        standing.kind !== 'asking' && (
          <Transcript html={transcript} trans={host.trans} />
        )
      )}
    </>
  );
}

/** How it stands with the kernel and the server behind it, where that is worth a word. */
function Note(props: {
  standing: RelayStatus;
  begun: boolean;
  trans: TranslationBundle;
  retry: () => void;
}): React.JSX.Element | null {
  const { standing, begun, trans, retry } = props;
  const text = words(standing, begun, trans);
  if (text === null) {
    return null;
  }
  const quiet = standing.kind === 'slow' || standing.kind === 'asking';
  return (
    <div
      className={`shoulders-Widget-note ${quiet ? 'shoulders-mod-quiet' : ''}`}
      role="status"
    >
      <span>{text}</span>
      {standing.kind === 'gone' && (
        <button type="button" onClick={retry}>
          {trans.__('Try again')}
        </button>
      )}
    </div>
  );
}

function words(
  standing: RelayStatus,
  begun: boolean,
  trans: TranslationBundle
): string | null {
  switch (standing.kind) {
    case 'ready':
      return null;
    case 'asking':
      return begun ? null : trans.__('Connecting to the kernel…');
    case 'slow':
      return trans.__(
        'The kernel is busy. What you do here waits until its cell finishes. The agent keeps working.'
      );
    case 'silent':
      return trans.__(
        'The kernel is busy or not running. Run this cell to use the agent here.'
      );
    case 'gone':
      return standing.reason === ''
        ? trans.__('The kernel cannot reach the Jupyter server.')
        : standing.reason;
  }
}
