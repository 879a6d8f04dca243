/**
 * *Fix & run* of one failing cell: requests a change, puts it into the cell for review, and runs the cell once. The
 * user's click allows these two steps only. Knows neither JupyterLab nor the view; owned by `CellFixes`.
 */

import { Signal } from '@lumino/signaling';

import { infoOf } from '../client/http';
import type { ErrorInfo } from '../wire/generated';
import type { ITextProposal } from '../text/proposedText';
import type { Flaw, InlineEdit, Obstacle, Ready } from './inlineEdit';

/** Why there is no fix. */
export type Failure =
  | { readonly kind: 'obstacle'; readonly obstacle: Obstacle }
  | { readonly kind: 'error'; readonly error: ErrorInfo }
  | { readonly kind: 'paused' }
  | { readonly kind: 'clash' }
  | { readonly kind: 'flaw'; readonly flaw: Flaw }
  /** The model changes nothing and gives advice instead; may be empty. */
  | { readonly kind: 'advice'; readonly text: string };

/** Progress of a fix. */
export type FixStage =
  | { readonly kind: 'writing'; readonly retrying: boolean }
  | { readonly kind: 'running' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** What a fix does to its cell. */
export interface IFixActions {
  /** Put the change into the cell for review. Rejects with an `ApiError`. */
  readonly put: (sessionId: string, change: ITextProposal) => Promise<void>;
  /** Run the cell; resolves to whether it ran without an error. */
  readonly run: () => Promise<boolean>;
}

export class CellFix {
  constructor(
    readonly edit: InlineEdit,
    private readonly actions: IFixActions
  ) {
    edit.changed.connect(this.onEdit, this);
    edit.ended.connect(this.onEditEnded, this);
  }

  /** Emitted when the stage or the preview changed. */
  readonly changed = new Signal<this, void>(this);
  /** Emitted once: whether the cell ran without an error; null if it did not run. */
  readonly ended = new Signal<this, boolean | null>(this);

  get stage(): FixStage {
    return this.current;
  }

  /** Request the fix, or request it again. */
  start(instruction: string): void {
    const { obstacle } = this.edit;
    if (obstacle !== null) {
      this.fail({ kind: 'obstacle', obstacle });
      return;
    }
    this.isPut = false;
    this.set({ kind: 'writing', retrying: false });
    this.edit.type(instruction);
    void this.edit.submit();
  }

  /** Leave the cell unchanged; a run that has started continues. */
  cancel(): void {
    if (!this.isPut) {
      this.edit.discard();
    }
  }

  private readonly onEdit = (): void => {
    const { stage } = this.edit;
    if (this.isPut) {
      return;
    }
    switch (stage.kind) {
      case 'asking':
        if (stage.error !== null) {
          this.fail({ kind: 'error', error: stage.error });
        }
        return;
      case 'working':
        this.set({ kind: 'writing', retrying: stage.retrying });
        return;
      case 'paused':
        this.fail({ kind: 'paused' });
        return;
      case 'ready':
        this.putChange(stage);
    }
  };

  private putChange(answer: Ready): void {
    const { proposal, sessionId } = this.edit;
    const failure = this.failureOf(answer);
    if (failure !== null || proposal === null || sessionId === null) {
      this.fail(failure ?? { kind: 'advice', text: '' });
      return;
    }
    this.isPut = true;
    void this.finish(sessionId, proposal);
  }

  private failureOf({ flaw, isConflict, extent }: Ready): Failure | null {
    const { advice } = this.edit;
    if (advice !== null) {
      return { kind: 'advice', text: advice };
    }
    if (flaw !== null) {
      return { kind: 'flaw', flaw };
    }
    if (isConflict) {
      return { kind: 'clash' };
    }
    const isSame = extent.added + extent.removed === 0;
    return isSame ? { kind: 'advice', text: '' } : null;
  }

  private async finish(
    sessionId: string,
    change: ITextProposal
  ): Promise<void> {
    try {
      await this.actions.put(sessionId, change);
    } catch (error) {
      this.isPut = false;
      this.fail({ kind: 'error', error: infoOf(error) });
      return;
    }
    this.set({ kind: 'running' });
    this.edit.discard();
    let isGood = false;
    try {
      isGood = await this.actions.run();
    } catch (error) {
      console.warn('The fixed cell was not run to its end:', error);
    }
    this.end(isGood);
  }

  private readonly onEditEnded = (): void => {
    if (!this.isPut) {
      this.end(null);
    }
  };

  private fail(failure: Failure): void {
    this.set({ kind: 'failed', failure });
  }

  private set(stage: FixStage): void {
    this.current = stage;
    this.changed.emit();
  }

  private end(isGood: boolean | null): void {
    this.ended.emit(isGood);
    Signal.clearData(this);
  }

  private isPut = false;
  private current: FixStage = { kind: 'writing', retrying: false };
}
