/** The plugins that JupyterLab loads from this extension. */

import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { agentDatabase } from './agent-database/plugin';
import { inlineActions } from './plugins/inlineActions';
import { cellMarkers } from './plugins/cellMarkers';
import { chat } from './plugins/chat';
import { client } from './plugins/client';
import { conversations } from './plugins/conversations';
import { documents } from './plugins/documents';
import { folderTrust } from './plugins/folderTrust';
import { follow } from './plugins/follow';
import { inlineCompletion } from './plugins/inlineCompletion';
import { references } from './plugins/references';
import { review } from './plugins/review';
import { notifications } from './plugins/automation/notifications';
import { schedules } from './plugins/automation/schedules';
import { search } from './plugins/search';
import { settings } from './plugins/settings';
import { status } from './plugins/status';
import { textFiles } from './plugins/textFiles';
import { threads } from './plugins/threads';
import { transcripts } from './plugins/transcripts';
import { word } from './plugins/word';

// Plugins provide different types; JupyterLab reads only the common members.
const plugins: JupyterFrontEndPlugin<unknown>[] = [
  client,
  conversations,
  documents,
  textFiles,
  folderTrust,
  cellMarkers,
  review,
  chat,
  inlineActions,
  threads,
  follow,
  inlineCompletion,
  search,
  references,
  settings,
  schedules,
  notifications,
  status,
  transcripts,
  word,
  agentDatabase
];

export default plugins;
