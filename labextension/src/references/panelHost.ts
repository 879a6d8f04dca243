/** The page around the References panel. Made by the controller. */

import type { IViewHost } from '../ui/hooks';
import type { Reference, ReferenceFinding } from '../wire/generated';

/** What the panel needs of the page. */
export interface IPanelHost extends IViewHost {
  readonly cite: (reference: Reference) => void;
  /** The text that a drag carries. */
  readonly citation: (reference: Reference) => string;
  readonly copy: (text: string) => void;
  /** Open a file of the workspace, at a line. */
  readonly openFile: (path: string, line: number | null) => void;
  readonly openAddress: (address: string) => void;
  /** Ask, then delete. */
  readonly remove: (reference: Reference) => void;
  readonly goTo: (finding: ReferenceFinding) => void;
  readonly insertBibliography: () => void;
  /** The document that a check is about; null: all. */
  readonly currentDocument: () => string | null;
}
