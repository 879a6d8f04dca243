/**
 * The host of a panel in a notebook's output. It has the kernel but not JupyterLab: functions that open documents or
 * edit cells are null, so that the views hide their buttons. Created by `index`.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { TranslationBundle } from '@jupyterlab/translation';

import { download } from '../ui/download';
import type { IChatHost, IEditorContext } from '../host/chatHost';
import type { IPanelPlacement } from '../host/panelPlacement';
import type { IHttpClient } from '../client/http';
import { createServerLookups, storeProviderKey } from '../host/serverLookups';
import { hunksOf } from '../model/view-models/changeRows';
import type { IReview } from '../host/review';
import type { PendingEditsStore } from '../review/pendingEdits';
import { highlight } from './highlight';
import { Icon } from './icons';
import type { IPageServices } from './pageServices';

/** Dependencies of the host. */
export interface IHostParts {
  readonly http: IHttpClient;
  readonly review: PendingEditsStore;
  readonly services: IPageServices;
  /** Parent of dialogs. */
  readonly root: Node;
}

/** Tracks which notebook contains the panel. */
export class WidgetEditorContext implements IDisposable {
  readonly changed = new Signal<this, void>(this);

  get current(): IEditorContext {
    return this.context;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Set the notebook that contains the panel. */
  setDocument(document: string | null): void {
    if (document !== this.context.document) {
      const openDocuments = document === null ? [] : [document];
      this.context = { ...NO_CONTEXT, document, openDocuments };
      this.changed.emit();
    }
  }

  dispose(): void {
    this.disposed = true;
    Signal.clearData(this);
  }

  private context: IEditorContext = NO_CONTEXT;
  private disposed = false;
}

const NO_CONTEXT: IEditorContext = {
  document: null,
  cell: null,
  selection: null,
  openDocuments: []
};

/** Create the host of one view. */
export function createWidgetHost(
  { http, review, services, root }: IHostParts,
  situation: WidgetEditorContext
): IChatHost {
  return {
    ...UNAVAILABLE,
    ...services,
    Icon,
    get situation() {
      return situation.current;
    },
    situationChanged: situation.changed,
    dock: new FixedDock(),
    lookups: createServerLookups(http),
    review: createReview(review),
    copy: text => copy(text, root),
    save: download,
    highlight: (code, language, into) => {
      highlight(code, language, into);
      return Promise.resolve();
    },
    setKey: (provider, key, untested) =>
      storeProviderKey(http, provider, key, untested),
    confirm: (title, body, accept) =>
      confirm(root, services.trans, { title, body, accept })
  };
}

/** Functions that need JupyterLab. */
const UNAVAILABLE = {
  openDocument: null,
  openTarget: null,
  insertBelow: null,
  replaceCell: null,
  newFile: null,
  restartKernel: null,
  openInstructions: null,
  openSettings: null,
  openDatabase: null,
  schedule: null,
  folderTrust: null,
  reviewFolder: () => undefined,
  upload: null,
  threads: null,
  texts: null,
  cellsOf: () => [],
  copiedCells: () => [],
  attachmentsOfDrag: () => Promise.resolve([]),
  readImage: (path: string) =>
    Promise.reject(new Error(`${path} cannot be shown here.`))
} satisfies Partial<IChatHost>;

/** The panel stays in its output. */
class FixedDock implements IPanelPlacement {
  readonly location = 'main';
  readonly locations = [];
  readonly changed = new Signal<this, void>(this);
  readonly moveTo = (): Promise<void> => Promise.resolve();
  readonly hide = (): void => {
    // Nothing to hide.
  };
}

/** Keep and undo; navigation to a change needs JupyterLab. */
function createReview(store: PendingEditsStore): IReview {
  return {
    changed: store.changed,
    get edits() {
      return store.edits;
    },
    countOf: hunksOf,
    decide: (edits, decision) => store.decideAll(decision, edits),
    reveal: () => Promise.resolve()
  };
}

/** Copy a text; without HTTPS only the browser's old command is available. */
function copy(text: string, root: Node): void {
  if (window.isSecureContext) {
    navigator.clipboard.writeText(text).catch((error: unknown) => {
      console.warn('The browser did not let the text be copied:', error);
    });
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  root.appendChild(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the one way that plain http has
  document.execCommand('copy');
  field.remove();
}

/** Ask for confirmation over the panel, because a page of widgets has no dialogs; false if cancelled. */
function confirm(
  within: Node,
  trans: TranslationBundle,
  words: { title: string; body: string; accept: string }
): Promise<boolean> {
  const dialog = document.createElement('dialog');
  dialog.className = 'shoulders-Dialog';
  dialog.setAttribute('aria-label', words.title);
  const title = document.createElement('h3');
  title.textContent = words.title;
  const body = document.createElement('p');
  body.textContent = words.body;
  const form = document.createElement('form');
  form.method = 'dialog';
  form.className = 'shoulders-Actions';
  form.append(
    button(trans.__('Cancel'), 'cancel', ''),
    button(words.accept, 'accept', 'shoulders-mod-primary')
  );
  dialog.append(title, body, form);
  within.appendChild(dialog);
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'accept');
    });
    dialog.showModal();
  });
}

function button(text: string, value: string, kind: string): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'submit';
  made.className = `shoulders-Button ${kind}`;
  made.value = value;
  made.textContent = text;
  return made;
}
