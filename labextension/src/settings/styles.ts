/** How the settings page looks: it loads with the page, not with the lab. Imported by `SettingsPage`. */

import '../../style/chat/panel.css';
import '../../style/ui/controls.css';
import '../../style/chat/cards.css';
import '../../style/chat/sheets.css';
import '../../style/settings/page.css';
import '../../style/settings/usage.css';
