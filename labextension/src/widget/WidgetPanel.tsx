/** The panel in a notebook's output: the chat once the kernel responds, the connection status, or a transcript. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { ChatPanel } from '../chat/ChatPanel';
import type { IChatHost } from '../host/chatHost';
import { useSignal } from '../ui/hooks';
import type { IPageSocket } from '../client/socket';
import type { IConversations } from '../model/conversations/interface';
import type { Relay, RelayStatus } from './relay';

export function WidgetPanel(props: {
  relay: Relay;
  host: IChatHost;
  conversations: IConversations;
  socket: IPageSocket;
  /** Whether the chat was shown before; it then stays, with its drafts. */
  wasReady: boolean;
  /** The conversation as the kernel last saved it. */
  transcript: string;
  /** The element of the panel; it is small while it shows only a note. */
  frame: HTMLElement;
}): React.JSX.Element {
  const { relay, host, conversations, socket, wasReady, transcript, frame } =
    props;
  const status = useSignal(relay.changed, () => relay.status);
  const isEmpty = !wasReady && transcript === '';
  React.useLayoutEffect(() => {
    frame.classList.toggle('shoulders-mod-note', !wasReady);
  }, [frame, wasReady]);
  return (
    <>
      <Note
        standing={status}
        begun={wasReady}
        trans={host.trans}
        retry={relay.hello}
      />
      {wasReady ? (
        <ChatPanel host={host} conversations={conversations} socket={socket} />
      ) : (
        !isEmpty &&
        status.kind !== 'asking' && (
          <Transcript html={transcript} trans={host.trans} />
        )
      )}
    </>
  );
}

/** The status of the kernel and its connection to the server, if notable. */
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

/** CSS variables copied from the page into the frame. */
const THEME_VARIABLES = [
  '--jp-ui-font-color1',
  '--jp-layout-color1',
  '--jp-ui-font-family',
  '--jp-ui-font-size1',
  '--jp-content-link-color'
];

function Transcript(props: {
  html: string;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { html, trans } = props;
  const place = React.useRef<HTMLIFrameElement>(null);
  React.useLayoutEffect(() => {
    const { current } = place;
    if (current !== null) {
      current.srcdoc = page(html, getComputedStyle(current));
    }
  }, [html]);
  return (
    <iframe
      ref={place}
      className="shoulders-Widget-transcript"
      // No scripts, no origin, no forms.
      sandbox=""
      title={trans.__('Transcript of the conversation')}
      tabIndex={0}
    />
  );
}

/** A page with the transcript that loads nothing. */
export function page(
  html: string,
  style: Pick<CSSStyleDeclaration, 'getPropertyValue'>
): string {
  const variables = THEME_VARIABLES.map(name => {
    // The value is put into a style sheet and must not end it.
    const value = style.getPropertyValue(name).replace(/[<>{};]/g, '');
    return `${name}:${value}`;
  }).join(';');
  return `<!doctype html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>:root{${variables}}
body{margin:8px 12px;overflow-wrap:anywhere;background:var(--jp-layout-color1);color:var(--jp-ui-font-color1);font:var(--jp-ui-font-size1)/1.5 var(--jp-ui-font-family)}
a{color:var(--jp-content-link-color)}pre{white-space:pre-wrap}</style>
${html}`;
}
