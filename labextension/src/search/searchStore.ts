/** The query and its answer. Lives with the page, so that the next search begins with the last query. */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import { infoOf } from '../client/http';
import type { SearchResults, ServerFrame } from '../wire/generated';
import { LatestRequest } from './latestRequest';
import {
  EMPTY,
  isBlank,
  reduceSearch,
  type ISearchState,
  type SearchAction
} from './searchState';

/** Holds the state of the quick-pick and requests answers. */
export class SearchStore {
  constructor(
    private readonly search: (query: string) => Promise<SearchResults>
  ) {}

  readonly changed = new Signal<this, void>(this);

  get state(): ISearchState {
    return this.current;
  }

  /** Search for a text, at once or after the request in flight. */
  type(query: string): void {
    this.dispatch({ type: 'type', query });
    this.refresh();
  }

  /** Search for the current text again. */
  refresh(): void {
    const { query } = this.current;
    if (isBlank(query)) {
      this.requests.drop();
    } else {
      this.requests.ask(query);
    }
  }

  dispatch(action: SearchAction): void {
    const next = reduceSearch(this.current, action);
    if (next !== this.current) {
      this.current = next;
      this.changed.emit();
    }
  }

  /** Resolves when the answer is that to the current text. */
  settled(): Promise<void> {
    return this.requests.settled();
  }

  /** Search again when the index has changed, as long as it lacks files. */
  follow(frames: ISignal<unknown, ServerFrame>): IDisposable {
    const onFrame = (_: unknown, frame: ServerFrame): void => {
      const isOfIndex =
        frame.type === 'settings-update' && frame.part === 'search';
      if (isOfIndex && this.isBehind) {
        this.refresh();
      }
    };
    frames.connect(onFrame);
    let isDisposed = false;
    return {
      get isDisposed() {
        return isDisposed;
      },
      dispose: () => {
        isDisposed = true;
        frames.disconnect(onFrame);
      }
    };
  }

  private get isBehind(): boolean {
    const index = this.current.answer?.results.index;
    return index !== undefined && (index.state !== 'ready' || index.behind > 0);
  }

  private readonly requests = new LatestRequest<string>(async query => {
    try {
      const results = await this.search(query);
      this.dispatch({ type: 'answer', query, results });
    } catch (error) {
      this.dispatch({ type: 'fail', failure: infoOf(error) });
    }
  });

  private current: ISearchState = EMPTY;
}
