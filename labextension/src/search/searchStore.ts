/** The query and its answer. Lives with the page, so that the next search begins with the last query. */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import { infoOf } from '../client/http';
import type {
  SearchIndexStatus,
  SearchResults,
  ServerFrame
} from '../wire/generated';
import { LatestRequest } from './latestRequest';
import {
  EMPTY,
  isBlank,
  reduceSearch,
  setupOf,
  wantsMeaning,
  type ISearchState,
  type SearchAction,
  type SearchBy
} from './searchState';

/** How long typing pauses before a search by meaning, in ms: each text costs a call of a model. */
export const PAUSE_MS = 250;

/** The routes of search. */
export interface ISearchApi {
  readonly search: (query: string, by: SearchBy) => Promise<SearchResults>;
  readonly status: () => Promise<SearchIndexStatus>;
}

/** Holds the state of the quick-pick and requests answers. */
export class SearchStore {
  constructor(private readonly api: ISearchApi) {}

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
    const { query, answer } = this.current;
    clearTimeout(this.pause);
    this.byBoth.drop();
    if (isBlank(query)) {
      this.byWords.drop();
    } else if (answer?.by === 'both' && answer.query === query) {
      this.byBoth.ask(query); // By words first, places would vanish and return.
    } else {
      this.byWords.ask(query);
      this.askForMeaning();
    }
  }

  /** Ask the server whether search by meaning is set up. */
  loadSetup(): void {
    this.statusRequests.ask();
  }

  dispatch(action: SearchAction): void {
    const next = reduceSearch(this.current, action);
    if (next !== this.current) {
      this.current = next;
      this.changed.emit();
    }
  }

  /** Resolves when the answer is that to the current text; places found by meaning may follow. */
  settled(): Promise<void> {
    return this.byWords.settled();
  }

  /** Search again when the index has changed, as long as it lacks files. Until disposed. */
  follow(frames: ISignal<unknown, ServerFrame>): IDisposable {
    const onFrame = (_: unknown, frame: ServerFrame): void => {
      const isOfIndex =
        frame.type === 'settings-update' && frame.part === 'search';
      if (!isOfIndex) {
        return;
      }
      if (this.isBehind) {
        this.refresh();
      }
      if (this.current.meaning !== 'ready') {
        this.loadSetup();
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
        clearTimeout(this.pause);
      }
    };
  }

  private get isBehind(): boolean {
    const index = this.current.answer?.results.index;
    return index !== undefined && (index.state !== 'ready' || index.behind > 0);
  }

  /** Search by meaning when typing pauses, if that can add something. */
  private askForMeaning(): void {
    clearTimeout(this.pause);
    if (wantsMeaning(this.current)) {
      this.pause = setTimeout(() => {
        if (wantsMeaning(this.current)) {
          this.byBoth.ask(this.current.query);
        }
      }, PAUSE_MS);
    }
  }

  private requestsBy(by: SearchBy): LatestRequest<string> {
    return new LatestRequest(async query => {
      try {
        const results = await this.api.search(query, by);
        this.dispatch({ type: 'answer', query, by, results });
      } catch (error) {
        this.dispatch({ type: 'fail', query, by, failure: infoOf(error) });
      }
    });
  }

  private readonly byWords = this.requestsBy('words');
  /** Apart, so that the next letter does not wait for a model. */
  private readonly byBoth = this.requestsBy('both');

  private readonly statusRequests = new LatestRequest<void>(async () => {
    try {
      const { meaning } = await this.api.status();
      const setup = setupOf(meaning);
      if (setup !== this.current.meaning) {
        this.dispatch({ type: 'meaning', meaning: setup });
        this.askForMeaning();
      }
    } catch {
      // Search is off or fails too, which the quick-pick shows.
    }
  });

  private pause: ReturnType<typeof setTimeout> | undefined;
  private current: ISearchState = EMPTY;
}
