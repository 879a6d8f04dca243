/** Icons of the panel in a notebook's output: JupyterLab's drawings without JupyterLab, and our own. */

import caretDown from '@jupyterlab/ui-components/style/icons/arrow/caret-down.svg?raw';
import caretLeft from '@jupyterlab/ui-components/style/icons/arrow/caret-left.svg?raw';
import caretRight from '@jupyterlab/ui-components/style/icons/arrow/caret-right.svg?raw';
import caretUp from '@jupyterlab/ui-components/style/icons/arrow/caret-up.svg?raw';
import pause from '@jupyterlab/ui-components/style/icons/debugger/pause.svg?raw';
import variable from '@jupyterlab/ui-components/style/icons/debugger/variable.svg?raw';
import error from '@jupyterlab/ui-components/style/icons/error.svg?raw';
import file from '@jupyterlab/ui-components/style/icons/filetype/file.svg?raw';
import folder from '@jupyterlab/ui-components/style/icons/filetype/folder.svg?raw';
import image from '@jupyterlab/ui-components/style/icons/filetype/image.svg?raw';
import notebook from '@jupyterlab/ui-components/style/icons/filetype/notebook.svg?raw';
import settings from '@jupyterlab/ui-components/style/icons/filetype/settings.svg?raw';
import history from '@jupyterlab/ui-components/style/icons/history.svg?raw';
import info from '@jupyterlab/ui-components/style/icons/info.svg?raw';
import book from '@jupyterlab/ui-components/style/icons/sidebar/toc.svg?raw';
import terminal from '@jupyterlab/ui-components/style/icons/statusbar/terminal.svg?raw';
import add from '@jupyterlab/ui-components/style/icons/toolbar/add.svg?raw';
import insert from '@jupyterlab/ui-components/style/icons/toolbar/add-below.svg?raw';
import check from '@jupyterlab/ui-components/style/icons/toolbar/check.svg?raw';
import close from '@jupyterlab/ui-components/style/icons/toolbar/close.svg?raw';
import cell from '@jupyterlab/ui-components/style/icons/toolbar/code.svg?raw';
import copy from '@jupyterlab/ui-components/style/icons/toolbar/copy.svg?raw';
import remove from '@jupyterlab/ui-components/style/icons/toolbar/delete.svg?raw';
import download from '@jupyterlab/ui-components/style/icons/toolbar/download.svg?raw';
import pencil from '@jupyterlab/ui-components/style/icons/toolbar/edit.svg?raw';
import more from '@jupyterlab/ui-components/style/icons/toolbar/ellipses.svg?raw';
import link from '@jupyterlab/ui-components/style/icons/toolbar/link.svg?raw';
import retry from '@jupyterlab/ui-components/style/icons/toolbar/refresh.svg?raw';
import run from '@jupyterlab/ui-components/style/icons/toolbar/run.svg?raw';
import search from '@jupyterlab/ui-components/style/icons/toolbar/search.svg?raw';
import stop from '@jupyterlab/ui-components/style/icons/toolbar/stop.svg?raw';
import * as React from 'react';

import type { IconName } from '../host/chatHost';
import { ICON_SHAPES } from '../ui/icons/shapes';
import { svgOf, SPARK_SHAPE, THREAD_SHAPE } from '../ui/icons/glyphs';

const DRAWINGS: Record<IconName, string> = {
  add,
  attach: svgOf(ICON_SHAPES.attach),
  book,
  'caret-down': caretDown,
  'caret-left': caretLeft,
  'caret-right': caretRight,
  'caret-up': caretUp,
  cell,
  check,
  close,
  copy,
  delete: remove,
  download,
  error,
  eye: svgOf(ICON_SHAPES.eye),
  file,
  'file-add': svgOf(ICON_SHAPES['file-add']),
  folder,
  fork: svgOf(ICON_SHAPES.fork),
  history,
  image,
  info,
  insert,
  link,
  lock: svgOf(ICON_SHAPES.lock),
  minimise: svgOf(ICON_SHAPES.minimise),
  more,
  notebook,
  pause,
  pencil,
  question: svgOf(ICON_SHAPES.question),
  replace: svgOf(ICON_SHAPES.replace),
  retry,
  run,
  search,
  send: svgOf(ICON_SHAPES.send),
  settings,
  spark: svgOf(SPARK_SHAPE),
  stop,
  terminal,
  thread: svgOf(THREAD_SHAPE),
  tool: svgOf(ICON_SHAPES.tool),
  variable
};

/** An icon in the size of text. */
export function Icon({ name }: { name: IconName }): React.JSX.Element {
  return (
    <span
      className="shoulders-Icon"
      // Drawings of this package and JupyterLab, never user text.
      dangerouslySetInnerHTML={{ __html: DRAWINGS[name] }}
    />
  );
}
