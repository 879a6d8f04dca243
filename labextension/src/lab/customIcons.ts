/** Pictures of our own, and the one the lab shows before the panel is loaded. Used by the plugins. */

import { LabIcon } from '@jupyterlab/ui-components';

import { svgOf, SPARK_SHAPE, THREAD_SHAPE } from '../ui/icons/glyphs';
import { EXTENSION_ID } from '../tokens';

/** An icon of our own, from its shapes in a square of 24. */
export const createIcon = (name: string, shapes: string): LabIcon =>
  new LabIcon({ name: `${EXTENSION_ID}:${name}`, svgstr: svgOf(shapes) });

/** A spark: the agent. Also the panel's icon in the side bar. */
export const sparkIcon = createIcon('spark', SPARK_SHAPE);

/** A bubble of speech: a thread. Also in the toolbar of cells. */
export const threadIcon = createIcon('thread', THREAD_SHAPE);
