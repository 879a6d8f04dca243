/** A fake kernel behind a widget: records the page's messages, sends what the test says. */

import type { IModel, ModelCallback } from '../protocol';

export interface ISaid {
  t: string;
  view: string;
  id?: string;
  path?: string;
  method?: string;
  body?: string | null;
  text?: string;
}

export class FakeModel implements IModel {
  readonly said: ISaid[] = [];
  readonly traits = new Map<string, unknown>([
    ['transcript', ''],
    ['session_id', null],
    ['notebook', null]
  ]);
  saved = 0;
  /** Whether the front end refuses to send, as with a dead kernel. */
  isDead = false;

  /** The view id chosen by the page. */
  get view(): string {
    return this.said[0]?.view ?? '';
  }

  of(kind: string): ISaid[] {
    return this.said.filter(({ t }) => t === kind);
  }

  get(name: string): unknown {
    return this.traits.get(name);
  }
  set(name: string, value: unknown): void {
    this.traits.set(name, value);
    this.emit(`change:${name}`, null);
  }
  save_changes(): void {
    this.saved++;
  }
  send(content: object): void {
    if (this.isDead) {
      throw new Error('Kernel is dead');
    }
    this.said.push(content as ISaid);
  }
  on(event: string, callback: ModelCallback): void {
    this.heard.push([event, callback]);
  }
  off(event: string, callback: ModelCallback): void {
    this.heard = this.heard.filter(
      ([name, each]) => name !== event || each !== callback
    );
  }

  /** Send a message to the page's view. */
  say(content: object, buffers: readonly DataView[] = []): void {
    this.emit('msg:custom', { view: this.view, ...content }, buffers);
  }
  emit(
    event: string,
    content: unknown,
    buffers: readonly DataView[] = []
  ): void {
    this.heard
      .filter(([name]) => name === event)
      .forEach(([, callback]) => callback(content, buffers));
  }

  get listeners(): number {
    return this.heard.length;
  }

  private heard: [string, ModelCallback][] = [];
}

/** The kernel is ready, and so is the server. */
export const READY = {
  t: 'ready',
  server: true,
  notebook: 'a/trip.ipynb',
  version: '0.1.0',
  waits: false
};
