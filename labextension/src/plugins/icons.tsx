/** The panel's pictures: the lab's own icons where it has them. Used by the chat plugin. */

import {
  addBelowIcon,
  addIcon,
  caretDownIcon,
  caretLeftIcon,
  caretRightIcon,
  caretUpIcon,
  checkIcon,
  closeIcon,
  codeIcon,
  copyIcon,
  deleteIcon,
  downloadIcon,
  ellipsesIcon,
  editIcon,
  errorIcon,
  fileIcon,
  folderIcon,
  historyIcon,
  imageIcon,
  infoIcon,
  type LabIcon,
  linkIcon,
  notebookIcon,
  pauseIcon,
  refreshIcon,
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
import { own, sparkIcon, threadIcon } from './ownIcon';

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

const fileAddIcon = own(
  'file-add',
  '<path d="M14 2H6a2 2 0 0 0-2 2v16c0 1.100.9 2 2 2h12a2 2 0 0 0 2-2V8zm4 18H6V4h7v5h5zm-7-1h2v-3h3v-2h-3v-3h-2v3H8v2h3z"/>'
);

const toolIcon = own(
  'tool',
  '<path d="M12 2 3 7v10l9 5 9-5V7zm0 2.300L17.900 7.500 12 10.800 6.100 7.500zM5 9.200l6 3.300v6.600l-6-3.300zm8 9.900v-6.600l6-3.300v6.600z"/>'
);

const attachIcon = own(
  'attach',
  '<path d="M16.500 6v11.500a4 4 0 0 1-8 0V5a2.500 2.500 0 0 1 5 0v10.500a1 1 0 0 1-2 0V6H10v9.500a2.500 2.500 0 0 0 5 0V5a4 4 0 0 0-8 0v12.500a5.500 5.500 0 0 0 11 0V6z"/>'
);

const replaceIcon = own(
  'replace',
  '<path d="M3 3h18v7h-2V5H5v5H3zm2 11h14v5H5zm-2-2v9h18v-9zM11 6h2v2.600l1.300-1.300 1.400 1.400L12 12.400 8.300 8.700l1.400-1.400L11 8.600z"/>'
);

const forkIcon = own(
  'fork',
  '<path d="M6 2a3 3 0 0 0-1 5.800V16.200A3 3 0 1 0 7 16.200V14c.6-.6 1.500-1 3-1h4c2.600 0 4-1.700 4-4V7.800A3 3 0 1 0 16 7.800V9c0 1.300-.6 2-2 2h-4c-1.200 0-2.200.2-3 .6V7.800A3 3 0 0 0 6 2zm0 2a1 1 0 1 1 0 2 1 1 0 0 1 0-2zm11 0a1 1 0 1 1 0 2 1 1 0 0 1 0-2zM6 18a1 1 0 1 1 0 2 1 1 0 0 1 0-2z"/>'
);

const lockIcon = own(
  'lock',
  '<path d="M18 9h-1V7A5 5 0 0 0 7 7v2H6a2 2 0 0 0-2 2v9a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-9a2 2 0 0 0-2-2zM9 7a3 3 0 0 1 6 0v2H9zm9 13H6v-9h12zm-6-2.500a2 2 0 1 0 0-4 2 2 0 0 0 0 4z"/>'
);

const minimiseIcon = own('minimise', '<path d="M5 17h14v2H5z"/>');

const ICONS: Record<IconName, LabIcon> = {
  add: addIcon,
  attach: attachIcon,
  book: tocIcon,
  'caret-down': caretDownIcon,
  'caret-left': caretLeftIcon,
  'caret-right': caretRightIcon,
  'caret-up': caretUpIcon,
  cell: codeIcon,
  check: checkIcon,
  close: closeIcon,
  copy: copyIcon,
  delete: deleteIcon,
  download: downloadIcon,
  error: errorIcon,
  eye: eyeIcon,
  file: fileIcon,
  'file-add': fileAddIcon,
  folder: folderIcon,
  fork: forkIcon,
  history: historyIcon,
  image: imageIcon,
  info: infoIcon,
  insert: addBelowIcon,
  minimise: minimiseIcon,
  more: ellipsesIcon,
  link: linkIcon,
  lock: lockIcon,
  notebook: notebookIcon,
  pause: pauseIcon,
  pencil: editIcon,
  question: questionIcon,
  replace: replaceIcon,
  retry: refreshIcon,
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
