/**
 * What the views need of the page around them. The chat plugin implements it with JupyterLab, tests with fakes; so no
 * view imports from the lab.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import type * as React from 'react';

import type { ToolIcon } from '../model/view-models/conversationItems';
import type { IReview } from './review';
import type { IFolderTrust } from './folderTrust';
import type { SavedProvider, Selection } from '../wire/generated';
import type { IInputHost } from './inputHost';
import type { IMessageHost } from './messageHost';
import type { IPanelPlacement } from './panelPlacement';
import type { IThreadsHost } from './threadsHost';

/** Pictures of the panel; the plugin draws them with the lab's own icons where it has them. */
export type IconName =
  | ToolIcon
  | 'add'
  | 'attach'
  | 'caret-down'
  | 'caret-left'
  | 'caret-right'
  | 'caret-up'
  | 'cell'
  | 'close'
  | 'copy'
  | 'download'
  | 'error'
  | 'fork'
  | 'history'
  | 'image'
  | 'insert'
  | 'minimise'
  | 'more'
  | 'link'
  | 'lock'
  | 'notebook'
  | 'info'
  | 'pause'
  | 'replace'
  | 'retry'
  | 'send'
  | 'settings'
  | 'stop'
  | 'spark'
  | 'thread'
  | 'variable';

/** What the user has in front of them. */
export interface IEditorContext {
  /** Path of the active notebook or file. */
  readonly document: string | null;
  readonly cell: {
    readonly id: string;
    /** From 1, as people count. */
    readonly number: number;
    readonly hasError: boolean;
  } | null;
  readonly selection: Selection | null;
  readonly openDocuments: readonly string[];
}

/** The page around the panel. */
export interface IChatHost extends IInputHost, IMessageHost, IThreadsHost {
  readonly trans: TranslationBundle;
  readonly Icon: React.ComponentType<{ name: IconName }>;
  readonly situation: IEditorContext;
  readonly situationChanged: ISignal<unknown, void>;
  /** Where the panel is. */
  readonly dock: IPanelPlacement;
  /** Open a document, and bring a cell of it into view; null in a page that opens none. */
  readonly openDocument:
    ((path: string, cellId?: string | null) => void) | null;
  /** Insert code or markdown below the active cell; false when no notebook is open. Null where cells are out of reach. */
  readonly insertBelow: ((source: string, language: string) => boolean) | null;
  readonly copy: (text: string) => void;
  /** Let the browser save a file; it is never opened. */
  readonly save: (name: string, content: Blob) => void;
  /** Render highlighted code into an element. */
  readonly highlight: (
    code: string,
    language: string,
    into: HTMLElement
  ) => Promise<void>;
  /** The agent's changes that await keep or undo; null where they are not reviewed. */
  readonly review: IReview | null;
  /** The AI settings that the folder brings along; null where they cannot be reviewed. */
  readonly folderTrust: IFolderTrust | null;
  /** Show the review of the folder's AI settings. */
  readonly reviewFolder: () => void;
  /**
   * Hand a provider's key to the server, which tries it and stores it unless it is refused; the page does not keep it.
   * `untested`: store it as it is.
   */
  readonly setKey: (
    provider: string,
    key: string,
    untested: boolean
  ) => Promise<SavedProvider>;
  /** Restart a notebook's kernel, after asking; null in a page that cannot. */
  readonly restartKernel: ((path: string) => void) | null;
  readonly confirm: (
    title: string,
    body: string,
    accept: string
  ) => Promise<boolean>;
}
