/**
 * The running fixes in this page's notebooks: one per cell, shown in its editor. Owned by `InlineActionsController`.
 */

import type { CodeCell } from '@jupyterlab/cells';
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import { ApiError, type IHttpClient } from '../client/http';
import type {
  Attachment,
  CellTextAnswer,
  PutCellText
} from '../wire/generated';
import type { ITextProposal } from '../text/proposedText';
import { CellFix } from './cellFix';
import type { InlineEdit } from './inlineEdit';
import { preview } from './editPreview';
import { CellTarget } from '../live-documents/openEditTargets';

/** Services that fixes need. */
export interface ICellFixParts {
  readonly http: Pick<IHttpClient, 'call'>;
  readonly trans: TranslationBundle;
  readonly announce: (text: string) => void;
  /** Makes the edit that requests a fix of an error. */
  readonly makeEdit: (
    target: CellTarget,
    error: Attachment,
    continues: string | undefined
  ) => InlineEdit;
}

/** Longest time until the page has a changed cell, possibly through a room's server; in ms. */
const ARRIVAL_MS = 5000;

export class CellFixes {
  constructor(private readonly parts: ICellFixParts) {}

  /** Emitted when a cell's fix reached another stage or ended. */
  readonly changed = new Signal<this, CodeCell>(this);

  of(cell: CodeCell): CellFix | null {
    return this.running.get(cell) ?? null;
  }

  /** Fix the cell and run it; a failed fix is requested again. */
  start(panel: NotebookPanel, cell: CodeCell, cause: string): void {
    const { trans } = this.parts;
    const known = this.of(cell);
    const fix = known ?? this.begin(panel, cell);
    if (known === null || known.stage.kind === 'failed') {
      const number = panel.content.widgets.indexOf(cell) + 1;
      fix.start(trans.__('Fix the error in cell %1: %2', number, cause));
    }
  }

  private begin(panel: NotebookPanel, cell: CodeCell): CellFix {
    const path = panel.context.localPath;
    const cell_id = cell.model.id;
    const target = new CellTarget(panel, cell_id, null);
    const error = { kind: 'error', path, cell_id } as const;
    const before = this.conversations.get(cell);
    const edit = this.parts.makeEdit(target, error, before);
    const fix = new CellFix(edit, {
      put: (sessionId, change) => this.put(target, sessionId, change),
      run: () => run(panel, cell)
    });
    this.running.set(cell, fix);
    panel.content.activeCellIndex = panel.content.widgets.indexOf(cell);
    const stop = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && fix.stage.kind === 'writing') {
        fix.cancel();
      }
    };
    cell.node.addEventListener('keydown', stop, true);
    fix.changed.connect(() => {
      preview(target.widget?.editor ?? null, fix.edit.proposal);
      this.changed.emit(cell);
    });
    fix.ended.connect((_, isGood) => {
      cell.node.removeEventListener('keydown', stop, true);
      preview(target.widget?.editor ?? null, null);
      target.dispose();
      this.remember(cell, isGood === true ? null : edit.sessionId);
      this.running.delete(cell);
      this.changed.emit(cell);
      this.announce(target.number, isGood);
    });
    return fix;
  }

  /** A fix that did not help is the start of the next attempt. */
  private remember(cell: CodeCell, sessionId: string | null): void {
    if (sessionId === null) {
      this.conversations.delete(cell);
    } else {
      this.conversations.set(cell, sessionId);
    }
  }

  private async put(
    target: CellTarget,
    sessionId: string,
    { base, proposed }: ITextProposal
  ): Promise<void> {
    const body: PutCellText = {
      document: target.path,
      cell_id: target.cellId,
      base,
      text: proposed
    };
    const route = `sessions/${encodeURIComponent(sessionId)}/cell-text`;
    const { text } = await this.parts.http.call<CellTextAnswer>(
      'POST',
      route,
      body
    );
    if (!(await arrived(target, text))) {
      throw new ApiError(0, {
        code: 'conflict',
        message: this.parts.trans.__(
          'The cell was changed, but not in this window. Run it yourself.'
        ),
        hint: null,
        retryable: false,
        details: null,
        provider: null,
        model: null,
        request_id: null
      });
    }
  }

  private announce(number: number | null, isGood: boolean | null): void {
    const { trans, announce } = this.parts;
    if (isGood !== null) {
      announce(
        isGood
          ? trans.__('Cell %1 was fixed and ran without an error.', number ?? 0)
          : trans.__('Cell %1 was changed and still fails.', number ?? 0)
      );
    }
  }

  private readonly running = new Map<CodeCell, CellFix>();
  private readonly conversations = new WeakMap<CodeCell, string>();
}

/** Wait until the page has the text the server put into the cell, or a user's edit of it. */
async function arrived(target: CellTarget, text: string): Promise<boolean> {
  const before = target.text();
  const isHere = (): boolean => [text, null].includes(target.text());
  if (isHere()) {
    return true;
  }
  return new Promise(resolve => {
    const done = (): void => {
      clearTimeout(timer);
      target.changed.disconnect(look);
      resolve(target.text() !== before);
    };
    const look = (): void => {
      if (isHere()) {
        done();
      }
    };
    const timer = setTimeout(done, ARRIVAL_MS);
    target.changed.connect(look);
  });
}

/** Run the cell as the user would; stay in edit mode if the user types in another cell. */
function run(panel: NotebookPanel, cell: CodeCell): Promise<boolean> {
  const { content, sessionContext } = panel;
  const { mode } = content;
  const isElsewhere = content.activeCell !== cell;
  const running = NotebookActions.runCells(content, [cell], sessionContext);
  if (isElsewhere) {
    content.mode = mode;
  }
  return running;
}
