/** Icons of the panel: JupyterLab's own where they exist. Used by the chat plugin. */

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

import type { IconName } from '../host/chatHost';
import { ICON_SHAPES } from '../ui/icons/shapes';
import { createIcon, sparkIcon, threadIcon } from './customIcons';

const drawn = (name: keyof typeof ICON_SHAPES): LabIcon =>
  createIcon(name, ICON_SHAPES[name]);

const ICONS: Record<IconName, LabIcon> = {
  add: addIcon,
  attach: drawn('attach'),
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
  eye: drawn('eye'),
  file: fileIcon,
  'file-add': drawn('file-add'),
  folder: folderIcon,
  fork: drawn('fork'),
  history: historyIcon,
  image: imageIcon,
  info: infoIcon,
  insert: addBelowIcon,
  minimise: drawn('minimise'),
  more: ellipsesIcon,
  link: linkIcon,
  lock: drawn('lock'),
  notebook: notebookIcon,
  pause: pauseIcon,
  pencil: editIcon,
  question: drawn('question'),
  replace: drawn('replace'),
  retry: refreshIcon,
  run: runIcon,
  search: searchIcon,
  send: drawn('send'),
  settings: settingsIcon,
  spark: sparkIcon,
  stop: stopIcon,
  terminal: terminalIcon,
  thread: threadIcon,
  tool: drawn('tool'),
  variable: variableIcon
};

/** An icon in text size. */
export function Icon({ name }: { name: IconName }): React.JSX.Element {
  const { react: Picture } = ICONS[name];
  return <Picture tag="span" className="shoulders-Icon" />;
}
