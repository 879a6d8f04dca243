/** How the panel looks: it loads with the panel, not with the lab. Imported by `ChatPanel`. */

import '../../style/chat.css';
import '../../style/controls.css';
import '../../style/messages.css';
import '../../style/places.css';
import '../../style/bubbles.css';
import '../../style/terminal.css';
import '../../style/diff.css';
import '../../style/cards.css';
import '../../style/changes.css';
import '../../style/markdown.css';
import '../../style/composer.css';
import '../../style/sheet.css';
import '../../style/thread-panel.css';
import '../../style/empty.css';
import '../../style/restore.css';
