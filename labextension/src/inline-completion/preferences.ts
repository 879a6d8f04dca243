/**
 * The settings of suggestions, kept up to date with changes made anywhere. Used by `controller.ts` and
 * `labProvider.ts`.
 */

import type { IHttpClient } from '../client/http';
import type { IPageSocket } from '../client/socket';
import type {
  CompletionSettings,
  ServerFrame,
  Settings
} from '../wire/generated';

/** Reads the settings at creation, when the page connects, and when they change. */
export class CompletionPreferences {
  constructor(
    private readonly http: Pick<IHttpClient, 'call'>,
    socket: Pick<IPageSocket, 'frameReceived' | 'opened'>
  ) {
    socket.frameReceived.connect((_, frame) => this.onFrame(frame));
    socket.opened.connect(() => this.refresh());
    this.refresh();
  }

  /** Null until known. */
  current: CompletionSettings | null = null;

  /** Settled when the settings have been read or the read failed. */
  async loaded(): Promise<void> {
    let awaited: Promise<void>;
    do {
      awaited = this.reading;
      await awaited;
    } while (awaited !== this.reading);
  }

  private onFrame(frame: ServerFrame): void {
    if (frame.type === 'settings-update' && frame.part === 'settings') {
      this.refresh();
    }
  }

  private refresh(): void {
    this.reading = this.read();
  }

  private async read(): Promise<void> {
    const reading = ++this.readings;
    try {
      const { values } = await this.http.call<Settings>('GET', 'settings');
      if (reading === this.readings) {
        this.current = values.ghost;
      }
    } catch (error) {
      // Read again when the page connects; the old values stay until then.
      console.warn('The settings of suggestions could not be read:', error);
    }
  }

  private readings = 0;
  private reading: Promise<void> = Promise.resolve();
}
