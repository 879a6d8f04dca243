/** The plugin list: what JupyterLab loads from this extension, one plugin per entry. */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

import { EXTENSION_ID } from './tokens';

const panel: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:plugin`,
  description: 'An AI colleague beside the notebook.',
  autoStart: true,
  activate: (_app: JupyterFrontEnd) => undefined
};

const plugins: JupyterFrontEndPlugin<unknown>[] = [panel];

export default plugins;
