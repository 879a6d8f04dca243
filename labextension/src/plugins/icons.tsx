/** The panel's pictures: the lab's own icons where it has them. Used by the chat plugin. */

import {
  addBelowIcon,
  addIcon,
  caretDownIcon,
  caretRightIcon,
  checkIcon,
  closeIcon,
  codeIcon,
  copyIcon,
  deleteIcon,
  downloadIcon,
  editIcon,
  errorIcon,
  fileIcon,
  folderIcon,
  historyIcon,
  imageIcon,
  infoIcon,
  type LabIcon,
  notebookIcon,
  pauseIcon,
  runIcon,
  searchIcon,
  settingsIcon,
  stopIcon,
  terminalIcon,
  tocIcon,
  variableIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IconName } from '../chat/host';
import { own, sparkIcon } from './ownIcon';

const eyeIcon = own(
  'eye',
  '<path d="M12 5C7 5 3 8.500 1.500 12 3 15.500 7 19 12 19s9-3.500 10.500-7C21 8.500 17 5 12 5zm0 11.500A4.500 4.500 0 1 1 12 7.500a4.500 4.500 0 0 1 0 9zm0-2.200a2.300 2.300 0 1 0 0-4.600 2.300 2.300 0 0 0 0 4.600z"/>'
);

const sendIcon = own(
  'send',
  '<path d="M11 20V8.400l-4.900 4.900L4.700 12 12 4.700l7.300 7.300-1.400 1.400L13 8.400V20z"/>'
);

const questionIcon = own(
  'question',
  '<path d="M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 18.200a8.200 8.200 0 1 1 0-16.400 8.200 8.200 0 0 1 0 16.400zM11 16h2v2h-2zm1-10a4 4 0 0 0-4 4h1.900a2.100 2.100 0 1 1 3.600 1.500c-1.200 1.200-2.500 1.800-2.500 3.500h2c0-1.100 1-1.600 1.900-2.500A4 4 0 0 0 12 6z"/>'
);

const toolIcon = own(
  'tool',
  '<path d="M12 2 3 7v10l9 5 9-5V7zm0 2.300L17.900 7.500 12 10.800 6.100 7.500zM5 9.200l6 3.300v6.600l-6-3.300zm8 9.900v-6.600l6-3.300v6.600z"/>'
);

const attachIcon = own(
  'attach',
  '<path d="M16.500 6v11.500a4 4 0 0 1-8 0V5a2.500 2.500 0 0 1 5 0v10.500a1 1 0 0 1-2 0V6H10v9.500a2.500 2.500 0 0 0 5 0V5a4 4 0 0 0-8 0v12.500a5.500 5.500 0 0 0 11 0V6z"/>'
);

const threadIcon = own(
  'thread',
  '<path d="M20 3H4a2 2 0 0 0-2 2v16l4-4h14a2 2 0 0 0 2-2V5a2 2 0 0 0-2-2zm0 12H5.200L4 16.200V5h16z"/>'
);

const ICONS: Record<IconName, LabIcon> = {
  add: addIcon,
  attach: attachIcon,
  book: tocIcon,
  'caret-down': caretDownIcon,
  'caret-right': caretRightIcon,
  cell: codeIcon,
  check: checkIcon,
  close: closeIcon,
  copy: copyIcon,
  delete: deleteIcon,
  download: downloadIcon,
  error: errorIcon,
  eye: eyeIcon,
  file: fileIcon,
  folder: folderIcon,
  history: historyIcon,
  image: imageIcon,
  info: infoIcon,
  insert: addBelowIcon,
  notebook: notebookIcon,
  pause: pauseIcon,
  pencil: editIcon,
  question: questionIcon,
  run: runIcon,
  search: searchIcon,
  send: sendIcon,
  settings: settingsIcon,
  spark: sparkIcon,
  stop: stopIcon,
  terminal: terminalIcon,
  thread: threadIcon,
  tool: toolIcon,
  variable: variableIcon
};

/** One picture, in the size of text. */
export function Icon({ name }: { name: IconName }): React.JSX.Element {
  const { react: Picture } = ICONS[name];
  return <Picture tag="span" className="shoulders-Icon" />;
}
