/**
 * The inline actions of this page, for cells, outputs and selections. Loaded by the inline actions plugin with the
 * first notebook or file, or with the first of its commands.
 */

import '../../style/documents/inline-actions.css';

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { CodeCell } from '@jupyterlab/cells';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { EditorView } from '@codemirror/view';
import { UUID } from '@lumino/coreutils';

import type { IHttpClient } from '../client/http';
import type { IConversations } from '../model/conversations/interface';
import { isRunning } from '../model/view-models/turnState';
import { Icon } from '../lab/icons';
import { sparkIcon } from '../lab/customIcons';
import { Announcer } from '../review/commands';
import { EXTENSION_ID } from '../tokens';
import type { Attachment, MessageContext } from '../wire/generated';
import { CellMenu } from './cellMenu';
import { causeOf } from './errorCause';
import { CellFixes } from './cellFixes';
import { causeText } from './fixMessages';
import { InlineEdit, type Task } from './inlineEdit';
import { OutputBars } from './outputBars';
import {
  editorAt,
  findActiveDocument,
  type ActiveDocument
} from '../live-documents/activeDocument';
import { OpenPrompts } from './openPrompts';
import { SelectionButton } from './selectionButton';
import type { IWordPages } from '../live-documents/wordPages';
import { selectionAttachment } from '../live-documents/wordSelection';
import {
  CellTarget,
  FileTarget,
  selectedPart,
  type FilePanel
} from '../live-documents/openEditTargets';

/** Services that inline actions need. */
export interface IInlineActionsParts {
  readonly app: JupyterFrontEnd;
  readonly http: IHttpClient;
  readonly conversations: IConversations;
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly words: IWordPages | null;
  readonly trans: TranslationBundle;
}

/** Characters of context sent on either side of a selection. */
const AROUND = 200;

/** Controls the inline actions; lives as long as the page. */
export class InlineActionsController {
  constructor(private readonly parts: IInlineActionsParts) {
    const { notebooks, trans, app } = parts;
    const announcer = new Announcer();
    this.menu = new CellMenu(app, notebooks, trans);
    const openConversation = (id: string): void => {
      parts.conversations.open(id);
      this.showChat();
    };
    this.fixes = new CellFixes({
      ...{ http: parts.http, trans },
      announce: text => announcer.announce(text),
      makeEdit: (target, error, continues) =>
        this.makeEdit(target, 'rewrite', {
          error,
          ...(continues !== undefined && { continues })
        })
    });
    this.prompts = new OpenPrompts(
      {
        trans,
        Icon,
        announce: text => announcer.announce(text),
        openConversation
      },
      (target, task) => this.makeEdit(target, task)
    );
    new OutputBars(
      notebooks,
      {
        fixes: this.fixes,
        openConversation,
        ask: (panel, cell, index) => this.askAbout(panel, cell, index)
      },
      sparkIcon,
      trans
    );
    new SelectionButton(
      {
        canAsk: view => this.panelOf(view) !== null,
        pagePosition: () => parts.words?.current?.selectionPosition() ?? null,
        ask: () => this.askSelection()
      },
      sparkIcon,
      trans
    );
  }

  /** Ask the agent to explain the cell or the selection. */
  explain(): Promise<void> | void {
    const { trans } = this.parts;
    const place = this.currentDocument();
    if (place === null) {
      return this.explainPage();
    }
    const selection = selectionAt(place);
    const number = numberOf(place);
    if (selection !== null) {
      const text =
        number === null
          ? trans.__('Explain the selected lines.')
          : trans.__('Explain the selected lines of cell %1.', number);
      return this.send(idsOf(place), text, [selection, ...cellOf(place)]);
    }
    if (place.cell !== null) {
      const text = trans.__('Explain cell %1.', number ?? 0);
      return this.send(idsOf(place), text, cellOf(place));
    }
    this.showError(trans.__('Select what to explain.'));
  }

  /** Ask the agent to explain the selection in the Word page. */
  private explainPage(): Promise<void> | void {
    const { trans, words } = this.parts;
    const page = words?.current ?? null;
    const selection = page === null ? null : selectionAttachment(page);
    if (page === null || selection === null) {
      this.showError(trans.__('Select what to explain.'));
      return;
    }
    const ids = { path: page.path, cell_id: null };
    const text = trans.__('Explain the selected text.');
    return this.send(ids, text, [selection]);
  }

  /** Open the prompt that changes the cell, the file, or the selection in it. */
  edit(): void {
    const place = this.currentDocument();
    if (place !== null) {
      this.prompts.open(targetOf(place, true), 'rewrite');
    }
  }

  /** Open the prompt that writes a new cell. */
  generate(): void {
    const place = this.currentDocument();
    if (place !== null && place.cell !== null) {
      this.prompts.open(targetOf(place, false), 'insert');
    }
  }

  /** Fix the error of the active cell and run the cell. */
  fix(): void {
    const { trans } = this.parts;
    const place = this.currentDocument();
    if (place !== null && place.cell !== null) {
      const { panel, cell } = place;
      const index = cell instanceof CodeCell ? errorIn(cell) : null;
      if (cell instanceof CodeCell && index !== null) {
        const cause = causeOf(cell.outputArea.model.get(index).toJSON());
        this.fixes.start(panel, cell, causeText(cause));
        return;
      }
    }
    this.showError(trans.__('This cell has no error to fix.'));
  }

  /** Ask about the clicked output, else the last one of the active cell. */
  askOutput(): void {
    const { app, trans, notebooks } = this.parts;
    const panel = notebooks.currentWidget;
    const cell = panel?.content.activeCell;
    if (panel === null || !(cell instanceof CodeCell)) {
      return;
    }
    const clicked = app.contextMenuHitTest(node =>
      node.classList.contains('shoulders-Output')
    );
    const { widgets, model } = cell.outputArea;
    const found = widgets.findIndex(({ node }) => node === clicked);
    // An input field is a widget but not an output.
    const index = found >= 0 ? found : (errorIn(cell) ?? model.length - 1);
    if (index >= 0) {
      this.askAbout(panel, cell, index);
    } else {
      this.showError(trans.__('This cell has no output to ask about.'));
    }
  }

  /** Attach the selection to the chat's input. */
  askSelection(): void {
    const place = this.currentDocument();
    const page = this.parts.words?.current ?? null;
    const inPage = page === null ? null : selectionAttachment(page);
    const selection = place === null ? inPage : selectionAt(place);
    if (selection === null) {
      this.showError(this.parts.trans.__('Select what to ask about.'));
    } else {
      this.attach(selection);
    }
  }

  /** Open the menu of the cell toolbar. */
  openMenu(): void {
    this.menu.open();
  }

  private askAbout(panel: NotebookPanel, cell: CodeCell, index: number): void {
    const path = panel.context.localPath;
    const cell_id = cell.model.id;
    const isError = cell.outputArea.model.get(index).type === 'error';
    this.attach(
      isError
        ? { kind: 'error', path, cell_id }
        : { kind: 'output', path, cell_id, index }
    );
  }

  /** Add an attachment to the chat's input and focus it. */
  private attach(attachment: Attachment): void {
    const { conversations } = this.parts;
    conversations.attach(conversations.active.key, attachment);
    this.showChat();
  }

  /** Send a message in the shown conversation, or in a new one while that one is busy. */
  private async send(
    ids: IPlaceIds,
    text: string,
    attachments: Attachment[]
  ): Promise<void> {
    const { conversations } = this.parts;
    const { key } = conversations.active;
    const shown = conversations.store(key)?.view;
    if (shown !== undefined && isRunning(shown)) {
      conversations.create();
    }
    this.showChat();
    await conversations.send(conversations.active.key, {
      text,
      attachments,
      context: contextOf(ids)
    });
  }

  private showChat(): void {
    void this.parts.app.commands.execute(`${EXTENSION_ID}:focus-chat`);
  }

  private showError(text: string): void {
    Notification.info(text, { autoClose: 4000 });
  }

  private makeEdit(
    target: CellTarget | FileTarget,
    task: Task,
    fix: { error?: Attachment; continues?: string } = {}
  ): InlineEdit {
    const { http, conversations, trans } = this.parts;
    return new InlineEdit({
      target,
      task,
      ...fix,
      http,
      conversations,
      newId: () => UUID.uuid4(),
      model: () => conversations.modelToSend(conversations.active.key),
      title: instruction => {
        const number = target.number;
        if (fix.error !== undefined) {
          return instruction;
        }
        if (number === null) {
          return trans.__('Edit: %1', instruction);
        }
        return task === 'rewrite'
          ? trans.__('Edit cell %1: %2', number, instruction)
          : trans.__('New cell: %1', instruction);
      },
      context: () => ({
        active_document: target.path,
        active_cell_id: target.cellId,
        selection: null,
        open_documents: [target.path]
      })
    });
  }

  /** The current notebook or file; null while a Word page is current. */
  private currentDocument(): ActiveDocument | null {
    const isPage = Boolean(this.parts.words?.current);
    return isPage ? null : findActiveDocument(this.parts);
  }

  private panelOf({ dom }: EditorView): NotebookPanel | FilePanel | null {
    const { notebooks, files } = this.parts;
    const holds = ({ node }: { node: HTMLElement }): boolean =>
      node.contains(dom);
    return notebooks.find(holds) ?? files?.find(holds) ?? null;
  }

  private readonly prompts: OpenPrompts;
  private readonly fixes: CellFixes;
  private readonly menu: CellMenu;
}

function targetOf(
  place: ActiveDocument,
  isPart: boolean
): CellTarget | FileTarget {
  if (place.cell === null) {
    return new FileTarget(
      place.panel,
      selectedPart(place.panel.content.editor)
    );
  }
  const part = isPart ? selectedPart(place.cell.editor) : null;
  return new CellTarget(place.panel, place.cell.model.id, part);
}

interface IPlaceIds {
  readonly path: string;
  readonly cell_id: string | null;
}

function idsOf(place: ActiveDocument): IPlaceIds {
  return {
    path: place.panel.context.localPath,
    cell_id: place.cell?.model.id ?? null
  };
}

function contextOf({ path, cell_id }: IPlaceIds): MessageContext {
  return {
    active_document: path,
    active_cell_id: cell_id,
    selection: null,
    open_documents: [path]
  };
}

function cellOf(place: ActiveDocument): Attachment[] {
  const { path, cell_id } = idsOf(place);
  return cell_id === null ? [] : [{ kind: 'cell', path, cell_id }];
}

/** The cell's number, from 1. */
function numberOf({ panel, cell }: ActiveDocument): number | null {
  return cell === null ? null : panel.content.widgets.indexOf(cell) + 1;
}

function selectionAt(place: ActiveDocument): Attachment | null {
  const view = editorAt(place);
  if (view === null) {
    return null;
  }
  const { doc, selection } = view.state;
  const { from, to, empty } = selection.main;
  return empty
    ? null
    : {
        kind: 'selection',
        ...idsOf(place),
        range: { from, to },
        text: doc.sliceString(from, to),
        before: doc.sliceString(Math.max(0, from - AROUND), from),
        after: doc.sliceString(to, Math.min(doc.length, to + AROUND))
      };
}

/** Index of a cell's last error output. */
function errorIn(cell: CodeCell): number | null {
  const { model } = cell.outputArea;
  for (let index = model.length - 1; index >= 0; index--) {
    if (model.get(index).type === 'error') {
      return index;
    }
  }
  return null;
}
