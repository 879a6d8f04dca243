/**
 * Asks the server for suggestions, one request at a time: a newer one cancels the older, here, on the server and at the
 * provider. Shared by `++` and by the lab's inline completer.
 */

import type { IHttpClient } from '../client/http';
import type {
  CompletionEnd,
  CompletionSuggestion,
  RequestCompletions
} from '../wire/generated';
import { withoutHidden } from '../text/hiddenCharacters';

/**
 * A request is let go this long after the key that ended it, in ms: to do so takes longer than all else that a key
 * does, and the frame that shows the key would wait for it.
 */
const LEAVE_MS = 50;

/** What is asked; who asks, and by which id, is added here. */
export type SuggestionQuery = Omit<
  RequestCompletions,
  'request_id' | 'client_id'
>;

/** Who asked. Hears nothing any more once its request is cancelled. */
export interface ISuggestionListener {
  /** A suggestion is whole. */
  suggested(text: string): void;
  /** All there is; null when the server could not be asked. Called once, at the end. */
  ended(end: CompletionEnd | null): void;
}

/** A request under way. */
export interface ISuggestionRequest {
  /** Let it go, if it is not over: nothing more is heard of it from now on, and in a moment the server hears it. */
  cancel(): void;
}

/** The requests of this page. */
export class SuggestionRequests {
  constructor(
    private readonly http: Pick<IHttpClient, 'call' | 'open'>,
    /** Names this page: its newer requests overtake its older ones. */
    private readonly clientId: string,
    private readonly newId: () => string
  ) {}

  /** Ask; whoever asked before hears nothing more. */
  ask(
    question: SuggestionQuery,
    asker: ISuggestionListener
  ): ISuggestionRequest {
    this.current?.cancel();
    const request = {
      ...question,
      ...{ request_id: this.newId(), client_id: this.clientId }
    };
    const asking = new Asking(this.http, request, asker);
    this.current = asking;
    return asking;
  }

  private current: Asking | null = null;
}

/** Suggestions are inserted as they are shown, so nothing hidden is in them. */
function seen(suggestions: readonly string[]): string[] {
  return suggestions
    .map(text => withoutHidden(text).text)
    .filter(text => text !== '');
}

class Asking implements ISuggestionRequest {
  constructor(
    private readonly http: Pick<IHttpClient, 'call' | 'open'>,
    private readonly request: RequestCompletions,
    private readonly asker: ISuggestionListener
  ) {
    void this.run();
  }

  cancel(): void {
    if (this.isOver) {
      return;
    }
    this.isOver = true;
    setTimeout(() => this.leave(), LEAVE_MS);
  }

  private leave(): void {
    this.stop.abort();
    // Where a proxy keeps the connection open, the server hears of it this way.
    const path = `completions/${encodeURIComponent(this.request.request_id)}`;
    this.http.call('DELETE', path).catch((error: unknown) => {
      console.debug('A request for suggestions could not be cancelled:', error);
    });
  }

  private async run(): Promise<void> {
    try {
      for await (const event of this.events()) {
        if (this.isOver) {
          return;
        }
        if (event.type === 'completion-suggestion') {
          seen([event.text]).forEach(text => this.asker.suggested(text));
        } else {
          this.end({ ...event, suggestions: seen(event.suggestions) });
        }
      }
    } catch (error) {
      // Suggestions are silent: without them one types on (chapter 10).
      if (!this.stop.signal.aborted) {
        console.debug('No suggestions:', error);
      }
    }
    this.end(null);
  }

  private end(end: CompletionEnd | null): void {
    if (!this.isOver) {
      this.isOver = true;
      this.asker.ended(end);
    }
  }

  private async *events(): AsyncGenerator<
    CompletionSuggestion | CompletionEnd
  > {
    const response = await this.http.open('completions', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'text/event-stream'
      },
      body: JSON.stringify(this.request),
      signal: this.stop.signal
    });
    const { body } = response;
    if (body === null) {
      return;
    }
    const stream = new EventStream();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      for (const data of stream.push(value)) {
        // The server checks its events against the schema `generated.ts` is made from.
        yield JSON.parse(data) as CompletionSuggestion | CompletionEnd;
      }
    }
  }

  private readonly stop = new AbortController();
  private isOver = false;
}

/** Collects pieces of a stream, gives the data of each event that is whole. */
export class EventStream {
  /** The data of the events that a piece completes, in order. */
  push(piece: string): string[] {
    this.rest += piece;
    const blocks = this.rest.split(/\r?\n\r?\n/);
    this.rest = blocks.pop() ?? '';
    return blocks.flatMap(dataOf);
  }

  private rest = '';
}

function dataOf(block: string): string[] {
  const lines = block
    .split(/\r?\n/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice('data:'.length).replace(/^ /, ''));
  return lines.length === 0 ? [] : [lines.join('\n')];
}
