/**
 * Pending attachments of the messages being written (uploads, images being scaled down, dropped items) and the messages
 * that wait for them. A message is sent only after the attachments added before it. Owned by `Conversations`.
 */

import { Signal } from '@lumino/signaling';

import { infoOf } from '../../client/http';
import type { Attachment, ErrorInfo } from '../../wire/generated';
import type { IMessage } from './message';

/** An attachment that is still being prepared. */
export interface IPendingAttachment {
  readonly id: number;
  /** File name; empty when unknown. */
  readonly name: string;
}

/** Creates attachments. */
export interface IAttachmentSource {
  readonly name: string;
  /** May take long; the signal aborts it. */
  readonly create: (signal: AbortSignal) => Promise<readonly Attachment[]>;
}

/** A message without its attachments. */
export type WaitingMessage = Omit<IMessage, 'attachments'>;

/** Receives the results, by tab key. */
export interface IAttachmentTarget {
  readonly attach: (key: string, attachment: Attachment) => void;
  readonly send: (key: string, message: WaitingMessage) => void;
}

interface IUpload extends IPendingAttachment {
  readonly abort: AbortController;
}

/** The pending attachments of all tabs. */
export class AttachmentUploads {
  constructor(private readonly port: IAttachmentTarget) {}

  readonly changed = new Signal<this, void>(this);

  /** Pending attachments, in order. */
  pending(key: string): readonly IPendingAttachment[] {
    return this.active.get(key) ?? NOTHING;
  }

  /** The message that is sent once all attachments are ready. */
  waiting(key: string): WaitingMessage | null {
    return this.messages.get(key) ?? null;
  }

  /** Why an attachment failed. */
  error(key: string): ErrorInfo | null {
    return this.errors.get(key) ?? null;
  }

  /** Prepare attachments one after the other, after those already pending. Never rejects: see `error`. */
  add(key: string, things: readonly IAttachmentSource[]): void {
    this.errors.delete(key);
    for (const { name, create } of things) {
      const item = { id: this.count++, name, abort: new AbortController() };
      this.active.set(key, [...(this.active.get(key) ?? []), item]);
      const before = this.tails.get(key) ?? Promise.resolve();
      this.tails.set(
        key,
        before.then(() => this.finish(key, item, create))
      );
    }
    this.changed.emit();
  }

  /** Drop a pending attachment. A message that waits for it is not sent. */
  cancel(key: string, id: number): void {
    const item = this.active.get(key)?.find(active => active.id === id);
    item?.abort.abort();
    this.messages.delete(key);
    this.drop(key, id);
    this.changed.emit();
  }

  /** Send a message once all attachments are ready. */
  sendWhenReady(key: string, message: WaitingMessage): void {
    this.errors.delete(key);
    this.messages.set(key, message);
    this.changed.emit();
  }

  /** Do not send the waiting message. */
  cancelSend(key: string): void {
    if (this.messages.delete(key)) {
      this.changed.emit();
    }
  }

  private async finish(
    key: string,
    { id, abort }: IUpload,
    make: IAttachmentSource['create']
  ): Promise<void> {
    const { signal } = abort;
    try {
      const made = signal.aborted ? [] : await make(signal);
      if (!signal.aborted) {
        made.forEach(attachment => this.port.attach(key, attachment));
      }
    } catch (reason) {
      if (!signal.aborted) {
        this.messages.delete(key);
        this.errors.set(key, infoOf(reason));
      }
    }
    this.drop(key, id);
    this.sendComplete(key);
    this.changed.emit();
  }

  private drop(key: string, id: number): void {
    const left = this.active.get(key)?.filter(active => active.id !== id) ?? [];
    if (left.length === 0) {
      this.active.delete(key);
    } else {
      this.active.set(key, left);
    }
  }

  private sendComplete(key: string): void {
    const message = this.messages.get(key);
    if (message !== undefined && !this.active.has(key)) {
      this.messages.delete(key);
      this.port.send(key, message);
    }
  }

  private readonly active = new Map<string, readonly IUpload[]>();
  private readonly tails = new Map<string, Promise<void>>();
  private readonly messages = new Map<string, WaitingMessage>();
  private readonly errors = new Map<string, ErrorInfo>();
  private count = 0;
}

const NOTHING: readonly IPendingAttachment[] = [];
