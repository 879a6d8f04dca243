/** This extension's own icons, and the one shown before the panel is loaded. Used by the plugins. */

import { LabIcon } from '@jupyterlab/ui-components';

import {
  svgOf,
  QUOTE_SHAPE,
  SPARK_SHAPE,
  THREAD_SHAPE
} from '../ui/icons/glyphs';
import { EXTENSION_ID } from '../tokens';

/** Make an icon from shapes in a square of 24. */
export const createIcon = (name: string, shapes: string): LabIcon =>
  new LabIcon({ name: `${EXTENSION_ID}:${name}`, svgstr: svgOf(shapes) });

/** A spark, for the agent and the panel's tab. */
export const sparkIcon = createIcon('spark', SPARK_SHAPE);

/** A speech bubble, for threads and the cell toolbar. */
export const threadIcon = createIcon('thread', THREAD_SHAPE);

/** A book with a ribbon, for the References panel. */
export const referencesIcon = createIcon('references', QUOTE_SHAPE);
