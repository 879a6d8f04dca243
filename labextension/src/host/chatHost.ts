/**
 * The port between the views and their page. The chat plugin implements it with JupyterLab, tests with fakes, so that
 * no view imports JupyterLab.
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

/** Icons of the panel; the plugin uses JupyterLab's own where they exist. */
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

/** The current document, cell and selection. */
export interface IEditorContext {
  /** Path of the active notebook or file. */
  readonly document: string | null;
  readonly cell: {
    readonly id: string;
    /** From 1. */
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
  /** The panel's placement. */
  readonly dock: IPanelPlacement;
  /** Open a document and scroll to a cell; null in a page that opens none. */
  readonly openDocument:
    ((path: string, cellId?: string | null) => void) | null;
  /** Insert code or markdown below the active cell; false when no notebook is open. Null in a page without cells. */
  readonly insertBelow: ((source: string, language: string) => boolean) | null;
  readonly copy: (text: string) => void;
  /** Download a file in the browser; it is never opened. */
  readonly save: (name: string, content: Blob) => void;
  /** Render highlighted code into an element. */
  readonly highlight: (
    code: string,
    language: string,
    into: HTMLElement
  ) => Promise<void>;
  /** The agent's pending changes; null in a page without review. */
  readonly review: IReview | null;
  /** The folder's own AI settings; null in a page that cannot review them. */
  readonly folderTrust: IFolderTrust | null;
  /** Show the review of the folder's AI settings. */
  readonly reviewFolder: () => void;
  /**
   * Send a provider's key to the server, which tests it and stores it unless it is refused; the page does not keep
   * it. `untested`: store it without a test.
   */
  readonly setKey: (
    provider: string,
    key: string,
    untested: boolean
  ) => Promise<SavedProvider>;
  /** Restart a notebook's kernel after a confirmation; null in a page that cannot. */
  readonly restartKernel: ((path: string) => void) | null;
  readonly confirm: (
    title: string,
    body: string,
    accept: string
  ) => Promise<boolean>;
}
