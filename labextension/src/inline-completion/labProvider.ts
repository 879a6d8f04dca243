/**
 * The same suggestions in JupyterLab's own inline completer: while typing, if the settings allow it, and with Alt+\.
 * JupyterLab draws them. Loaded with the controller; the plugin registers the provider.
 */

import type {
  CompletionHandler,
  IInlineCompletionItem,
  IInlineCompletionList
} from '@jupyterlab/completer';
import type { Widget } from '@lumino/widgets';
import type { Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';

import type { CompletionEnd } from '../wire/generated';
import type {
  SuggestionRequests,
  ISuggestionRequest
} from './suggestionRequests';
import type { OpenEditors } from './openEditors';
import type { UnavailableHint } from './unavailableHint';
import type { CompletionPreferences } from './preferences';
import {
  hasPlainCaret,
  suggestionQueryAt,
  type IQueryPosition
} from './requestBody';

/** Services the provider needs. */
export interface ILabCompletionParts {
  readonly documents: Pick<OpenEditors, 'positionIn'>;
  readonly completions: Pick<SuggestionRequests, 'request'>;
  readonly preferences: Pick<CompletionPreferences, 'current'>;
  readonly hint: Pick<UnavailableHint, 'report'>;
  /** Whether an editor shows `++` suggestions. */
  readonly hasSuggestions: (view: EditorView) => boolean;
  /** Whether JupyterLab shows a suggestion in a document. */
  readonly isShown: (widgetId: string) => boolean;
  /** Make JupyterLab fetch again for a document. */
  readonly refetch: (widgetId: string) => void;
}

/** Default timeout in ms; JupyterLab's settings can change it. */
const DEFAULT_TIMEOUT_MS = 15_000;
/** JupyterLab draws the first suggestion within this time, in ms. */
const DRAWN_MS = 200;
const NOTHING: IInlineCompletionList = { items: [] };

type Answer = (list: IInlineCompletionList) => void;

export class LabCompletionProvider {
  constructor(private readonly parts: ILabCompletionParts) {}

  /** JupyterLab's settings of this provider: the timeout. */
  configure({ timeout }: Readonly<Record<string, unknown>>): void {
    this.timeoutMs = typeof timeout === 'number' ? timeout : DEFAULT_TIMEOUT_MS;
  }

  /** Resolves when the first suggestion is complete. When all are, JupyterLab fetches again and gets them at once. */
  fetch(
    request: CompletionHandler.IRequest,
    widget: Widget,
    isAutomatic: boolean
  ): Promise<IInlineCompletionList> {
    const place = this.parts.documents.positionIn(widget);
    if (place === null || !this.canRequest(place, request, isAutomatic)) {
      return Promise.resolve(NOTHING);
    }
    const { completed } = this;
    this.completed = null;
    if (completed !== null && isStill(completed, place.view)) {
      return Promise.resolve({ items: completed.suggestions.map(itemOf) });
    }
    return new Promise(answer => {
      this.currentFetch?.stop();
      this.currentFetch = this.request(place, isAutomatic, widget.id, answer);
    });
  }

  /**
   * Ends when no more suggestions come; until then JupyterLab shows that more may. Yields the text again if
   * unchanged.
   */
  async *stream(
    token: string
  ): AsyncGenerator<{ response: IInlineCompletionItem }> {
    const asked = this.currentFetch;
    if (asked?.token === token && (await asked.ended) !== null) {
      yield { response: { insertText: asked.text } };
    }
  }

  /** The text or the caret of an editor changed: pending answers are outdated. */
  moved(view: EditorView): void {
    if (this.currentFetch?.view === view) {
      this.currentFetch.stop();
      this.currentFetch = null;
    }
  }

  private canRequest(
    { view }: IQueryPosition,
    { text, offset }: CompletionHandler.IRequest,
    isAutomatic: boolean
  ): boolean {
    const { preferences, hasSuggestions } = this.parts;
    const { doc, selection } = view.state;
    return (
      hasPlainCaret(view) &&
      !hasSuggestions(view) &&
      // Text written by the agent or another user triggers no request.
      (!isAutomatic ||
        (preferences.current?.automatic === true && view.hasFocus)) &&
      doc.toString() === text &&
      charactersIn(text.slice(0, selection.main.head)) === offset
    );
  }

  private request(
    place: IQueryPosition,
    isAutomatic: boolean,
    widgetId: string,
    answer: Answer
  ): SuggestionFetch {
    const { completions, hint } = this.parts;
    const question = suggestionQueryAt(
      place,
      isAutomatic ? 'automatic' : 'invoke'
    );
    const asked: SuggestionFetch = new SuggestionFetch(
      place.view,
      answer,
      this.timeoutMs
    );
    asked.request = completions.request(question, {
      suggested: text => asked.first(text),
      ended: end => {
        if (end !== null) {
          hint.report(end);
        }
        const suggestions = asked.end(end);
        if (suggestions.length > 1 && this.currentFetch === asked) {
          this.completed = { ...asked.position, suggestions };
          this.offerAll(widgetId);
        }
      }
    });
    return asked;
  }

  /** Dismissed suggestions do not come back; the others are available at the next request. */
  private offerAll(widgetId: string): void {
    const { isShown, refetch } = this.parts;
    const { completed } = this;
    if (isShown(widgetId)) {
      refetch(widgetId);
      return;
    }
    setTimeout(() => {
      const isLate = completed === null || !isStill(completed, completed.view);
      if (this.completed === completed && !isLate && isShown(widgetId)) {
        refetch(widgetId);
      }
    }, DRAWN_MS);
  }

  private currentFetch: SuggestionFetch | null = null;
  /** All suggestions where the first one is shown, for the next fetch. */
  private completed:
    (IFetchPosition & { readonly suggestions: readonly string[] }) | null =
    null;
  private timeoutMs = DEFAULT_TIMEOUT_MS;
}

/** Where suggestions were requested. */
interface IFetchPosition {
  readonly view: EditorView;
  readonly doc: Text;
  readonly head: number;
}

/** One request, until its last suggestion. */
class SuggestionFetch {
  constructor(
    readonly view: EditorView,
    private readonly answer: Answer,
    patience: number
  ) {
    const { doc, selection } = view.state;
    this.position = { view, doc, head: selection.main.head };
    this.timer = setTimeout(() => this.stop(), patience);
    this.ended = new Promise(resolve => {
      this.finish = resolve;
    });
  }

  readonly position: IFetchPosition;
  /** Identifies the item that may be followed by others. */
  readonly token = `${performance.now()}`;
  /** Settled when nothing more comes; null when cancelled. */
  readonly ended: Promise<CompletionEnd | null>;
  /** The first suggestion. */
  text = '';
  request: ISuggestionRequest | null = null;

  first(text: string): void {
    if (!this.isAnswered) {
      this.text = text;
      this.give([{ insertText: text, isIncomplete: true, token: this.token }]);
    }
  }

  /** Returns the suggestions after the first answer, for the next fetch. */
  end(end: CompletionEnd | null): readonly string[] {
    const suggestions = end?.suggestions ?? [];
    const isLate = this.isAnswered;
    this.give(suggestions.map(itemOf));
    this.finish(end);
    return isLate ? suggestions : [];
  }

  stop(): void {
    this.request?.cancel();
    this.give([]);
    this.finish(null);
  }

  private give(items: IInlineCompletionItem[]): void {
    clearTimeout(this.timer);
    if (!this.isAnswered) {
      this.isAnswered = true;
      this.answer({ items });
    }
  }

  private readonly timer: ReturnType<typeof setTimeout>;
  private isAnswered = false;
  private finish: (end: CompletionEnd | null) => void = () => undefined;
}

function isStill(asked: IFetchPosition, view: EditorView): boolean {
  const { doc, selection } = view.state;
  return (
    asked.view === view &&
    asked.doc.eq(doc) &&
    asked.head === selection.main.head
  );
}

/** JupyterLab counts a character outside the basic plane as one. */
function charactersIn(text: string): number {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g);
  return text.length - (pairs?.length ?? 0);
}

function itemOf(insertText: string): IInlineCompletionItem {
  return { insertText };
}
