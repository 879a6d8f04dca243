/**
 * One in-place edit, from the instruction to its end: the request, the answer and the resulting text. Nothing is
 * written before the user accepts. Knows neither JupyterLab nor the view; used by the prompt and by the preview in
 * the editor.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { Attachment, ErrorInfo, MessageContext } from '../wire/generated';
import {
  changeSizeOf,
  mergeProposal,
  movedPart,
  preferProposal,
  partialReplacement,
  withReplacement,
  type IChangeSize,
  type ITextRange,
  type ITextProposal
} from '../text/proposedText';
import { hasFence, isMarkdown, readReply } from './replyParser';
import { EditSession, type IEditSessionOptions } from './editSession';
import type { ITextTarget, EditRefusal } from '../live-documents/editTarget';

/** Change the text, or write a new cell below it. */
export type Task = 'rewrite' | 'insert';

/** The server's limit of a selection, in characters: a longer one would come back truncated. */
export const MAX_SELECTION = 8000;
const AROUND = 200;
/** The server's replacement for keys and passwords. */
const MASK = '[redacted]';
const TITLE = 60;

/** Why an edit cannot start or be accepted. */
export type Obstacle = EditRefusal | 'too-long';

/** Why an answer cannot be used: it is truncated, or contains a redacted secret of the user's text. */
export type Flaw = 'cut' | 'masked';

/** Stage of an edit. */
export type Stage =
  | { readonly kind: 'asking'; readonly error: ErrorInfo | null }
  | { readonly kind: 'working'; readonly retrying: boolean }
  | { readonly kind: 'paused' }
  /** `clash`: the user changed the same lines in the meantime. */
  | {
      readonly kind: 'ready';
      readonly extent: IChangeSize;
      readonly isConflict: boolean;
      readonly flaw: Flaw | null;
    };

/** A finished answer. */
export type Ready = Extract<Stage, { readonly kind: 'ready' }>;

export interface IInlineEditOptions extends IEditSessionOptions {
  readonly target: ITextTarget;
  readonly task: Task;
  /** The title of the conversation in the history. */
  readonly title: (instruction: string) => string;
  readonly context: () => MessageContext | null;
  /** The error to fix: it is attached, and an answer without a fence is advice. */
  readonly error?: Attachment;
}

export class InlineEdit implements IDisposable {
  constructor(private readonly options: IInlineEditOptions) {
    this.target = options.target;
    this.task = options.task;
    this.session = new EditSession(options);
    this.opened = this.target.text() ?? '';
    this.session.changed.connect(this.onAnswer, this);
    this.target.changed.connect(this.onText, this);
  }

  readonly target: ITextTarget;
  readonly task: Task;
  /** Emitted when the stage, the preview or the instruction changed. */
  readonly changed = new Signal<this, void>(this);
  /** Emitted once, when the edit was accepted or discarded, or its text is gone. */
  readonly ended = new Signal<this, void>(this);

  /** The user's instruction; kept while the view is removed. */
  get instruction(): string {
    return this.typed;
  }

  get stage(): Stage {
    return this.current;
  }

  get sessionId(): string | null {
    return this.session.sessionId;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** The change to preview; null without one. */
  get proposal(): ITextProposal | null {
    return this.task === 'rewrite' ? this.shown : null;
  }

  /** The new cell as written so far. */
  get newCell(): { text: string; isMarkdown: boolean } | null {
    return this.task === 'insert' && this.current.kind !== 'asking'
      ? { text: this.written, isMarkdown: this.isMarkdown }
      : null;
  }

  /** The model's advice; null when it gave a change. */
  get advice(): string | null {
    return this.current.kind === 'ready' ? this.said : null;
  }

  /** Why the edit cannot be submitted now; null when it can. */
  get obstacle(): Obstacle | null {
    const { refusal } = this;
    if (refusal !== null || this.task === 'insert') {
      return refusal;
    }
    const { from, to } = this.part();
    return to - from > MAX_SELECTION ? 'too-long' : null;
  }

  /** A new cell can be inserted below a locked one. */
  private get refusal(): EditRefusal | null {
    const refusal = this.target.refusal();
    return this.task === 'insert' && refusal === 'read-only-cell'
      ? null
      : refusal;
  }

  /** Set the instruction. */
  type(instruction: string): void {
    this.typed = instruction;
  }

  /** Submit the instruction with the current text. */
  async submit(): Promise<void> {
    const text = this.instruction.trim();
    if (text === '' || this.obstacle !== null) {
      return;
    }
    this.submitted = text;
    this.base = this.target.text() ?? '';
    this.submittedPart = this.part();
    this.written = '';
    this.said = null;
    this.shown = null;
    this.set({ kind: 'working', retrying: false });
    await this.session.ask(this.options.title(text.slice(0, TITLE)), {
      text,
      attachments: this.attachments(),
      context: this.options.context()
    });
  }

  /** Stop the answer; the instruction can be changed and submitted again. */
  async stop(): Promise<void> {
    this.shown = null;
    this.written = '';
    this.set({ kind: 'asking', error: null });
    await this.session.stop();
  }

  /** Write the answer into the text; `force` overrides the user's changes where they conflict. */
  accept(force = false): boolean {
    const { current, target } = this;
    if (current.kind !== 'ready' || current.flaw || this.refusal !== null) {
      return false;
    }
    if (this.task === 'insert') {
      if (!target.insertBelow(this.written, this.isMarkdown)) {
        return false;
      }
    } else {
      const text = this.accepted(force);
      if (text === null) {
        return false;
      }
      target.write(text);
    }
    this.end();
    return true;
  }

  /** End the edit without a change. */
  discard(): void {
    if (!this.disposed) {
      this.end();
    }
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      this.session.dispose();
      this.target.changed.disconnect(this.onText, this);
      Signal.clearData(this);
    }
  }

  private end(): void {
    this.shown = null;
    this.ended.emit();
    this.dispose();
  }

  private accepted(force: boolean): string | null {
    const here = this.target.text();
    if (here === null || this.shown === null) {
      return null;
    }
    return (
      mergeProposal(this.shown, here) ??
      (force ? preferProposal(this.shown, here) : null)
    );
  }

  /** The replaced range in the current text. */
  private part(): ITextRange {
    const here = this.target.text() ?? '';
    const { part } = this.target;
    const moved = part === null ? null : movedPart(part, this.opened, here);
    return moved ?? { from: 0, to: here.length };
  }

  private attachments(): Attachment[] {
    const { target, base, submittedPart, task } = this;
    const { error } = this.options;
    const around = [
      ...(error === undefined ? [] : [error]),
      ...target.surroundings()
    ];
    if (task === 'insert') {
      return around;
    }
    const { from, to } = submittedPart;
    const selection: Attachment = {
      kind: 'selection',
      path: target.path,
      cell_id: target.cellId,
      range: { from, to },
      text: base.slice(from, to),
      before: base.slice(Math.max(0, from - AROUND), from),
      after: base.slice(to, to + AROUND)
    };
    return [selection, ...around];
  }

  private readonly onAnswer = (): void => {
    const { answer } = this.session;
    switch (answer.state) {
      case 'none':
        return;
      case 'coming':
        this.readAnswer(answer.text);
        this.set({ kind: 'working', retrying: answer.retrying });
        return;
      case 'whole':
        this.readAnswer(answer.text, true);
        return;
      case 'paused':
        this.set({ kind: 'paused' });
        return;
      case 'failed':
        this.shown = null;
        this.set({ kind: 'asking', error: answer.error });
    }
  };

  /** Read the answer written so far. */
  private readAnswer(text: string, isWhole = false): void {
    if (this.options.error !== undefined && !hasFence(text)) {
      this.said = text.trim();
      this.shown = null;
      this.flaw = null;
      if (isWhole) {
        this.set(this.ready());
      }
      return;
    }
    this.said = null;
    const reply = readReply(text, this.target.isProse);
    const { base, submittedPart } = this;
    this.written = reply.text;
    this.isMarkdown = isMarkdown(reply.language);
    const old = base.slice(submittedPart.from, submittedPart.to);
    const replacement = isWhole
      ? reply.text
      : partialReplacement(old, reply.text);
    const proposed = withReplacement(base, submittedPart, replacement);
    this.shown = reply.text === '' && !isWhole ? null : { base, proposed };
    if (isWhole) {
      this.flaw = reply.isComplete ? this.maskedIn(old) : 'cut';
      this.set(this.ready());
    }
  }

  /** Whether a redacted answer would overwrite the user's own secret. */
  private maskedIn(old: string): Flaw | null {
    const masks = (text: string): number => text.split(MASK).length;
    return this.task === 'rewrite' && masks(this.written) > masks(old)
      ? 'masked'
      : null;
  }

  private ready(): Stage {
    const here = this.target.text() ?? '';
    const result = this.shown === null ? null : mergeProposal(this.shown, here);
    const isConflict = this.task === 'rewrite' && result === null;
    const extent =
      this.task === 'insert'
        ? changeSizeOf('', this.written)
        : result === null
          ? changeSizeOf(
              here,
              this.shown === null ? here : preferProposal(this.shown, here)
            )
          : changeSizeOf(here, result);
    return { kind: 'ready', extent, isConflict, flaw: this.flaw };
  }

  private readonly onText = (): void => {
    if (this.target.refusal() === 'gone') {
      this.end();
    } else if (this.current.kind === 'ready') {
      this.set(this.ready());
    } else {
      this.changed.emit();
    }
  };

  private set(stage: Stage): void {
    this.current = stage;
    if (!this.disposed) {
      this.changed.emit();
    }
  }

  /** The last submitted instruction. */
  submitted = '';
  private readonly session: EditSession;
  private typed = '';
  private readonly opened: string;
  private base = '';
  private submittedPart: ITextRange = { from: 0, to: 0 };
  private written = '';
  private said: string | null = null;
  private isMarkdown = false;
  private flaw: Flaw | null = null;
  private shown: ITextProposal | null = null;
  private current: Stage = { kind: 'asking', error: null };
  private disposed = false;
}
