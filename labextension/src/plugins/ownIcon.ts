/** Pictures of our own, and the one the lab shows before the panel is loaded. Used by the plugins. */

import { LabIcon } from '@jupyterlab/ui-components';

import { drawing, SPARK, THREAD } from '../chat/signs';
import { EXTENSION_ID } from '../tokens';

/** An icon of our own, from its shapes in a square of 24. */
export const own = (name: string, shapes: string): LabIcon =>
  new LabIcon({ name: `${EXTENSION_ID}:${name}`, svgstr: drawing(shapes) });

/** A spark: the agent. Also the panel's icon in the side bar. */
export const sparkIcon = own('spark', SPARK);

/** A bubble of speech: a thread. Also in the toolbar of cells. */
export const threadIcon = own('thread', THREAD);
