/** An in-place edit with a text in memory and a scripted server. Shared by the tests of edits. */

import { Signal } from '@lumino/signaling';

import { Conversations } from '../../model/conversations/conversations';
import { FakeServer, FakeSocket } from '../../model/__tests__/fakes';
import type { Attachment, Event } from '../../wire/generated';
import type { ITextRange } from '../../text/proposedText';
import { InlineEdit, type Task } from '../inlineEdit';
import type { ITextTarget, EditRefusal } from '../../live-documents/editTarget';

/** A text. */
export class FakeTarget implements ITextTarget {
  constructor(
    public source: string | null,
    readonly part: ITextRange | null = null
  ) {}

  readonly path = 'a.ipynb';
  readonly cellId = 'c1';
  readonly number = 3;
  readonly isProse = false;
  readonly changed = new Signal<this, void>(this);
  refused: EditRefusal | null = null;
  readonly inserted: [string, boolean][] = [];
  writes = 0;

  /** The user replaces the text. */
  become(source: string | null): void {
    this.source = source;
    this.refused = source === null ? 'gone' : this.refused;
    this.changed.emit();
  }

  text(): string | null {
    return this.source;
  }
  refusal(): EditRefusal | null {
    return this.refused;
  }
  write(text: string): void {
    this.writes += 1;
    this.become(text);
  }
  insertBelow(text: string, isMarkdown: boolean): boolean {
    this.inserted.push([text, isMarkdown]);
    return true;
  }
  surroundings(): Attachment[] {
    return [{ kind: 'file', path: this.path }];
  }
  focus(): void {
    // Nothing to focus.
  }
}

const SESSION = 'made-0';

/** An edit of a text, and methods that play the server. */
export class Scene {
  constructor(
    readonly target: FakeTarget,
    task: Task = 'rewrite',
    error?: Attachment
  ) {
    let count = 0;
    const newId = (): string => `m${count++}`;
    this.conversations = new Conversations({
      http: this.server,
      socket: this.socket,
      storage: { read: () => null, write: () => undefined },
      newId,
      schedule: callback => callback()
    });
    this.edit = new InlineEdit({
      target,
      task,
      ...(error !== undefined && { error }),
      http: this.server,
      conversations: this.conversations,
      newId,
      model: () => 'demo/demo',
      title: text => `Edit: ${text}`,
      context: () => null
    });
    this.edit.ended.connect(() => {
      this.isOver = true;
    });
  }

  readonly server = new FakeServer();
  readonly socket = new FakeSocket();
  readonly conversations: Conversations;
  readonly edit: InlineEdit;
  isOver = false;

  /** Submit, and wait until the server has the message and its log is followed. */
  async ask(text: string): Promise<void> {
    const before = this.sent().length;
    this.edit.type(text);
    await this.edit.submit();
    await until(
      () =>
        this.sent().length > before && this.socket.subscriptions.has(SESSION)
    );
    const [, , body] = this.sent().at(-1) ?? [];
    const { id } = body as { id: string };
    this.turn = `t${before}`;
    this.log({
      type: 'message-add',
      message_id: id,
      text,
      attachments: [],
      context: null,
      queued: false,
      model: null,
      mode: null,
      answers: null,
      replaces: null,
      turn_id: this.turn
    });
    this.log({
      type: 'turn-start',
      turn_id: this.turn,
      model: 'demo/demo',
      provider: 'demo',
      mode: 'ask',
      step_limit: 5,
      is_stand_in: false
    });
    this.part = `p${before}`;
    this.log({ type: 'text-start', part_id: this.part });
  }

  /** Append to the answer. */
  streamText(text: string): void {
    this.log({ type: 'text-delta', part_id: this.part, text });
  }

  /** End the turn. */
  endTurn(exit = 'final_response', error: object | null = null): void {
    this.log({ type: 'text-end', part_id: this.part });
    this.log({ type: 'turn-end', exit, error, summary: null });
  }

  /** The requests that sent a message. */
  sent(): unknown[][] {
    return this.server.requests.filter(([name]) => name === 'sendMessage');
  }

  /** The names of all requests except those for logs. */
  requestNames(): unknown[] {
    return this.server.requests
      .map(([name]) => name)
      .filter(name => name !== 'events');
  }

  private log(event: object): void {
    const { logs } = this.server;
    const log = logs.get(SESSION) ?? [];
    const made = {
      at: '2026-11-22T10:00:00Z',
      session_id: SESSION,
      turn_id: this.turn,
      ...event,
      seq: log.length + 1
    } as unknown as Event; // Has the members that the reducer reads.
    logs.set(SESSION, [...log, made]);
    this.socket.deliver([made]);
  }

  private turn = '';
  private part = '';
}

/** Wait for imports and promises, without a clock. */
export async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000 && !condition(); tries++) {
    await new Promise(resolve => setTimeout(resolve, 0));
  }
  if (!condition()) {
    throw new Error('It did not come about.');
  }
}
