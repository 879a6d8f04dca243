/** The chat panel's root: header, notices, and the conversation or a list of them. Loaded when the panel is first shown. */

import '../../style/chat/panel.css';
import '../../style/ui/controls.css';
import '../../style/chat/messages.css';
import '../../style/chat/agents.css';
import '../../style/chat/tool-calls.css';
import '../../style/chat/user-messages.css';
import '../../style/ui/terminal.css';
import '../../style/ui/diff.css';
import '../../style/chat/cards.css';
import '../../style/chat/changes.css';
import '../../style/chat/markdown.css';
import '../../style/chat/citations.css';
import '../../style/chat/composer.css';
import '../../style/chat/sheets.css';
import '../../style/chat/threads.css';
import '../../style/chat/empty-state.css';
import '../../style/chat/restore.css';

import * as React from 'react';

import type { IPageSocket } from '../client/socket';
import type { IConversations } from '../model/conversations/interface';
import { PanelActions } from './sessions/panelActions';
import {
  ServerProblems,
  ConnectionBanner,
  FolderTrustBar,
  WaitingBar
} from './Banners';
import { ConversationView } from './ConversationView';
import { Header } from './Header';
import { History } from './sessions/History';
import type { IChatHost } from '../host/chatHost';
import { Notices } from './Notices';
import { ThreadList } from './threads/ThreadList';
import { HostContext, TabContext, useSignalVersion } from '../ui/hooks';
import { ActionsContext, usePanelState } from './sessions/usePanelActions';

export function ChatPanel(props: {
  host: IChatHost;
  conversations: IConversations;
  socket: IPageSocket;
  /** Shared with the commands. */
  actions?: PanelActions;
  /** Called once the panel can be used. */
  onReady?: () => void;
}): React.JSX.Element {
  const { host, conversations, socket, onReady } = props;
  React.useEffect(() => onReady?.(), [onReady]);
  useSignalVersion(conversations.changed);
  const [actions] = React.useState(
    () => props.actions ?? new PanelActions(conversations, host)
  );
  const tab = conversations.active.key;
  const place = React.useMemo(
    () => ({ conversations, tab }),
    [conversations, tab]
  );
  return (
    <HostContext.Provider value={host}>
      <TabContext.Provider value={place}>
        <ActionsContext.Provider value={actions}>
          <div className="shoulders-Chat">
            <Header />
            <ConnectionBanner socket={socket} />
            <ServerProblems />
            <Notices />
            <FolderTrustBar />
            <WaitingBar />
            <Content tab={tab} />
          </div>
        </ActionsContext.Provider>
      </TabContext.Provider>
    </HostContext.Provider>
  );
}

/** The conversation of the active tab, or a list. */
function Content({ tab }: { tab: string }): React.JSX.Element {
  const { list } = usePanelState();
  switch (list) {
    case 'history':
      return <History />;
    case 'threads':
      return <ThreadList />;
    case null:
      return (
        <div
          className="shoulders-TabPanel"
          role="tabpanel"
          id={`shoulders-panel-${tab}`}
          aria-labelledby={`shoulders-tab-${tab}`}
        >
          <ConversationView key={tab} />
        </div>
      );
  }
}
