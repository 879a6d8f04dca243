/** The page around the view of the agent's database. */

import type { IViewHost } from '../ui/hooks';

export interface IDatabaseHost extends IViewHost {
  /** Download a file in the browser. */
  readonly save: (name: string, content: Blob) => void;
}
