/** How the settings page looks: it loads with the page, not with the lab. Imported by `SettingsPage`. */

import '../../style/chat.css';
import '../../style/controls.css';
import '../../style/cards.css';
import '../../style/sheet.css';
import '../../style/settings.css';
import '../../style/usage.css';
