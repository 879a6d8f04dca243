/** How the panel looks: it loads with the panel, not with the lab. Imported by `ChatPanel`. */

import '../../style/chat/panel.css';
import '../../style/ui/controls.css';
import '../../style/chat/messages.css';
import '../../style/chat/tool-calls.css';
import '../../style/chat/user-messages.css';
import '../../style/ui/terminal.css';
import '../../style/ui/diff.css';
import '../../style/chat/cards.css';
import '../../style/chat/changes.css';
import '../../style/chat/markdown.css';
import '../../style/chat/composer.css';
import '../../style/chat/sheets.css';
import '../../style/chat/threads.css';
import '../../style/chat/empty-state.css';
import '../../style/chat/restore.css';
