/**
 * Requests suggestions from the server, one request at a time: a newer one cancels the older in the page, on the
 * server and at the provider. Used by `++` and by JupyterLab's inline completer.
 */

import type { IHttpClient } from '../client/http';
import type {
  CompletionEnd,
  CompletionSuggestion,
  RequestCompletions
} from '../wire/generated';
import { withoutHidden } from '../text/hiddenCharacters';

/**
 * Delay between the key that ends a request and its cancellation, in ms: cancelling takes longer than all other work
 * of a key and would delay the frame that shows it.
 */
const CANCEL_DELAY_MS = 50;

/** The request without the members added here. */
export type SuggestionQuery = Omit<
  RequestCompletions,
  'request_id' | 'client_id'
>;

/** Receives the suggestions. Not called after its request is cancelled. */
export interface ISuggestionListener {
  /** A suggestion is complete. */
  suggested(text: string): void;
  /** All suggestions have come; null when the request failed. Called once, at the end. */
  ended(end: CompletionEnd | null): void;
}

/** A running request. */
export interface ISuggestionRequest {
  /**
   * Cancel the request if it is running: the listener is not called any more, and the server is informed a moment
   * later.
   */
  cancel(): void;
}

export class SuggestionRequests {
  constructor(
    private readonly http: Pick<IHttpClient, 'call' | 'open'>,
    /** Identifies this page: its newer requests replace its older ones. */
    private readonly clientId: string,
    private readonly newId: () => string
  ) {}

  /** Send a request; the previous one is cancelled. */
  request(
    question: SuggestionQuery,
    asker: ISuggestionListener
  ): ISuggestionRequest {
    this.current?.cancel();
    const request = {
      ...question,
      ...{ request_id: this.newId(), client_id: this.clientId }
    };
    const asking = new SuggestionRequest(this.http, request, asker);
    this.current = asking;
    return asking;
  }

  private current: SuggestionRequest | null = null;
}

/** Suggestions without hidden characters: they are inserted as shown. */
function withoutHiddenText(suggestions: readonly string[]): string[] {
  return suggestions
    .map(text => withoutHidden(text).text)
    .filter(text => text !== '');
}

class SuggestionRequest implements ISuggestionRequest {
  constructor(
    private readonly http: Pick<IHttpClient, 'call' | 'open'>,
    private readonly request: RequestCompletions,
    private readonly asker: ISuggestionListener
  ) {
    void this.run();
  }

  cancel(): void {
    if (this.hasEnded) {
      return;
    }
    this.hasEnded = true;
    setTimeout(() => this.abort(), CANCEL_DELAY_MS);
  }

  private abort(): void {
    this.stop.abort();
    // Behind a proxy that keeps the connection open, the server learns of the cancellation this way.
    const path = `completions/${encodeURIComponent(this.request.request_id)}`;
    this.http.call('DELETE', path).catch((error: unknown) => {
      console.debug('A request for suggestions could not be cancelled:', error);
    });
  }

  private async run(): Promise<void> {
    try {
      for await (const event of this.events()) {
        if (this.hasEnded) {
          return;
        }
        if (event.type === 'completion-suggestion') {
          withoutHiddenText([event.text]).forEach(text =>
            this.asker.suggested(text)
          );
        } else {
          this.end({
            ...event,
            suggestions: withoutHiddenText(event.suggestions)
          });
        }
      }
    } catch (error) {
      // Errors are silent: users can type on without suggestions.
      if (!this.stop.signal.aborted) {
        console.debug('No suggestions:', error);
      }
    }
    this.end(null);
  }

  private end(end: CompletionEnd | null): void {
    if (!this.hasEnded) {
      this.hasEnded = true;
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
        // The server validates its events against the schema of `generated.ts`.
        yield JSON.parse(data) as CompletionSuggestion | CompletionEnd;
      }
    }
  }

  private readonly stop = new AbortController();
  private hasEnded = false;
}

/** Parses a stream of server-sent events (HTML standard) with `event`, `data` and comment lines. */
export class EventStream {
  /** The data of the events that a chunk completes, in order. */
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
