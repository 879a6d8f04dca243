/**
 * The threads of this page's documents: marks, new threads and navigation. Loaded by the threads plugin with the
 * first notebook or file, or with the first of its commands.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

import '../../style/documents/thread-marks.css';
import {
  editorAt,
  findActiveDocument,
  type ActiveDocument
} from '../live-documents/activeDocument';
import type { IWordPage, IWordPages } from '../live-documents/wordPages';
import type { IConversations } from '../model/conversations/interface';
import { Announcer } from '../review/commands';
import { THREAD_COMMANDS, THREADS_ITEM } from './commandIds';
import { EXTENSION_ID } from '../tokens';
import type { Anchor } from '../wire/generated';
import type { IThreadLocations } from '../host/threadLocations';
import { classesOf, labelOf, type IThreadMark } from './marks/markAppearance';
import { ThreadMarks } from './marks/marks';
import {
  anchorInPage,
  anchorOfSelection,
  anchorOfOutput,
  codeCell,
  selectedOutput
} from './selectionAnchor';
import { stepFrom, threadsAt, type ICursorPosition } from './threadNavigation';

/** Services the controller needs. */
export interface IThreadParts {
  readonly app: JupyterFrontEnd;
  readonly conversations: IConversations;
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly words: IWordPages | null;
  readonly trans: TranslationBundle;
  readonly locations: IThreadLocations;
}

/** Controls the threads of this page; lives as long as the page. */
export class ThreadsController {
  constructor(private readonly parts: IThreadParts) {
    const { app, conversations, notebooks, files, words } = parts;
    const { trans, locations } = parts;
    this.menu = new ThreadMenu(app.commands, trans.__('Task threads'));
    this.marks = new ThreadMarks({
      ...{ notebooks, files, words, locations, trans },
      sessions: conversations.history,
      opened: (ids, mark) => this.openAny(ids, mark),
      recounted: () => app.commands.notifyCommandChanged(THREAD_COMMANDS.cell)
    });
  }

  /** Start a thread at the selection, else at the cell or the line. */
  start(): void {
    const { page } = this;
    const place = this.currentDocument();
    const inPage = page === null ? null : anchorInPage(page);
    const anchor = place === null ? inPage : anchorOfSelection(place);
    if (anchor === null) {
      this.showError(
        this.parts.trans.__('Select the text to start a thread about.')
      );
    } else {
      this.startThread(anchor);
    }
  }

  /** Start a thread at the clicked output, else at the last one of the active cell. */
  startOutput(): void {
    const { app, notebooks, trans } = this.parts;
    const panel = notebooks.currentWidget;
    const cell = codeCell(panel?.content.activeCell ?? null);
    const clicked = app.contextMenuHitTest(node =>
      node.classList.contains('shoulders-Output')
    );
    const index = cell === null ? null : selectedOutput(cell, clicked);
    if (panel === null || cell === null || index === null) {
      this.showError(
        trans.__('This cell has no output to start a thread about.')
      );
    } else {
      this.startThread(anchorOfOutput(panel, cell, index));
    }
  }

  /** Show a thread; without an id, the one at the cursor. */
  open(id: string | null): void {
    if (id !== null) {
      this.parts.conversations.open(id);
      this.showChat();
      return;
    }
    const { page } = this;
    const place = this.currentDocument();
    const found = this.here(place, page);
    const node =
      place === null
        ? page?.widget.node
        : (editorAt(place)?.dom ?? place.panel.node);
    if (node === undefined || found.length === 0) {
      this.showError(this.parts.trans.__('There is no thread here.'));
    } else {
      this.openAny(idsOf(found), node.getBoundingClientRect());
    }
  }

  /** Cell toolbar button: start the cell's first thread, or list its threads. */
  openCell(): void {
    const { activeCell, currentWidget } = this.parts.notebooks;
    const path = currentWidget?.context.localPath;
    const ids = idsOf(this.ofCell(path, activeCell?.model.id));
    const item = activeCell?.node.querySelector(
      `[data-jp-item-name='${THREADS_ITEM}']`
    );
    if (ids.length === 0 || !item) {
      this.start();
    } else {
      this.menu.open(ids, item.getBoundingClientRect(), true);
    }
  }

  /** Go to the next or previous thread of the current document. */
  async step(by: 1 | -1): Promise<void> {
    const { trans, conversations, locations } = this.parts;
    const { marks, where } = this.inDocument();
    const next = stepFrom(marks, where, this.last, by);
    const session = conversations.history.get(next?.location.sessionId ?? '');
    if (next === null || session === undefined) {
      this.showError(trans.__('This document has no threads.'));
      return;
    }
    this.last = session.id;
    if (await locations.reveal(session)) {
      const at = marks.indexOf(next) + 1;
      const label = labelOf([next], trans);
      this.announcer.announce(
        trans.__('Thread %1 of %2: %3', at, marks.length, label)
      );
    }
  }

  /** Label with the number of a cell's threads, for screen readers; empty when there are none. */
  countOf(cell: Cell): string {
    const panel = this.parts.notebooks.find(
      ({ content }) => content === cell.parent
    );
    const count = this.ofCell(panel?.context.localPath, cell.model.id).length;
    return count === 0 ? '' : String(count);
  }

  /** Label and CSS classes of a thread in lists. */
  descriptionOf(id: string): { label: string; classes: string } {
    const { trans, locations, conversations } = this.parts;
    const document = locations.of(id)?.anchor.document ?? '';
    const mark = this.marks
      .in(document)
      .find(({ location }) => location.sessionId === id);
    return mark === undefined
      ? { label: conversations.history.get(id)?.title ?? '', classes: '' }
      : { label: labelOf([mark], trans), classes: classesOf([mark]) };
  }

  private openAny(ids: readonly string[], below: DOMRect): void {
    const [id, ...others] = ids;
    if (id !== undefined && others.length === 0) {
      this.open(id);
    } else {
      this.menu.open(ids, below, false);
    }
  }

  private startThread(anchor: Anchor): void {
    this.parts.conversations.openThread(anchor);
    this.showChat();
  }

  private ofCell(
    document: string | undefined,
    id: string | undefined
  ): readonly IThreadMark[] {
    return document === undefined || id === undefined
      ? []
      : this.marks
          .in(document)
          .filter(({ location: { anchor } }) => anchor.cell_id === id);
  }

  /** The threads of the current document and the cursor in it. */
  private inDocument(): {
    marks: readonly IThreadMark[];
    where: ICursorPosition;
  } {
    const { page } = this;
    const place = this.currentDocument();
    const path = place?.panel.context.localPath ?? page?.path;
    return {
      marks: path === undefined ? [] : this.marks.in(path),
      where: place === null ? selectedIn(page) : cursorPosition(place)
    };
  }

  /** The threads at the cursor, or at the selection in a Word page. */
  private here(
    place: ActiveDocument | null,
    page: IWordPage | null
  ): readonly IThreadMark[] {
    if (place === null) {
      const marks = page === null ? [] : this.marks.in(page.path);
      return threadsAt(marks, selectedIn(page), null);
    }
    const state = editorAt(place)?.state;
    const head = state?.selection.main.head ?? 0;
    const line = state?.doc.lineAt(head).number ?? null;
    const marks = this.marks.in(place.panel.context.localPath);
    return threadsAt(marks, cursorPosition(place), line);
  }

  /** The current notebook or file; null while a Word page is current. */
  private currentDocument(): ActiveDocument | null {
    return this.page === null ? findActiveDocument(this.parts) : null;
  }

  /** The current Word page. */
  private get page(): IWordPage | null {
    return this.parts.words?.current ?? null;
  }

  private showChat(): void {
    void this.parts.app.commands.execute(`${EXTENSION_ID}:focus-chat`);
  }

  private showError(text: string): void {
    Notification.info(text, { autoClose: 4000 });
  }

  private readonly marks: ThreadMarks;
  private readonly menu: ThreadMenu;
  private readonly announcer = new Announcer();
  /** The thread of the last navigation. */
  private last: string | null = null;
}

/** The start of the selection in a Word page. */
function selectedIn(page: IWordPage | null): ICursorPosition {
  return { number: null, offset: page?.selection?.from ?? null };
}

function idsOf(marks: readonly IThreadMark[]): string[] {
  return marks.map(({ location }) => location.sessionId);
}

function cursorPosition(place: ActiveDocument): ICursorPosition {
  const { panel, cell } = place;
  return {
    number: cell === null ? null : panel.content.widgets.indexOf(cell) + 1,
    offset: editorAt(place)?.state.selection.main.head ?? null
  };
}

/** Lists threads in a menu. */
export class ThreadMenu {
  constructor(commands: CommandRegistry, name: string) {
    this.menu = new Menu({ commands });
    this.menu.addClass('shoulders-ThreadMenu');
    this.menu.node.setAttribute('aria-label', name);
    // Return the focus unless the chosen item took it.
    this.menu.aboutToClose.connect(() => {
      const { opener } = this;
      this.opener = null;
      if (opener?.isConnected === true) {
        opener.focus();
      }
    });
  }

  /** List threads below a rectangle of the page; `hasStart` adds an item that starts a thread. */
  open(ids: readonly string[], below: DOMRect, hasStart: boolean): void {
    const { menu } = this;
    menu.clearItems();
    ids.forEach(id =>
      menu.addItem({ command: THREAD_COMMANDS.open, args: { id } })
    );
    if (hasStart) {
      menu.addItem({ type: 'separator' });
      menu.addItem({ command: THREAD_COMMANDS.start });
    }
    const active = document.activeElement;
    this.opener = active instanceof HTMLElement ? active : null;
    menu.open(below.left, below.bottom);
    menu.activateNextItem();
  }

  private readonly menu: Menu;
  private opener: HTMLElement | null = null;
}
