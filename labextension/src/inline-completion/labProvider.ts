/**
 * The same suggestions in JupyterLab's own inline completer: while typing, if
 * the settings allow it, and with Alt+\. JupyterLab draws them. Loaded with the
 * controller; the plugin registers the provider.
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
  readonly documents: Pick<OpenEditors, 'placeIn'>;
  readonly completions: Pick<SuggestionRequests, 'ask'>;
  readonly preferences: Pick<CompletionPreferences, 'current'>;
  readonly hint: Pick<UnavailableHint, 'tell'>;
  /** Whether an editor shows `++` suggestions. */
  readonly isTaken: (view: EditorView) => boolean;
  /** Whether JupyterLab shows a suggestion in a document. */
  readonly isShown: (widgetId: string) => boolean;
  /** Make JupyterLab fetch again for a document. */
  readonly again: (widgetId: string) => void;
}

/** Default timeout in ms; JupyterLab's settings can change it. */
const PATIENCE_MS = 15_000;
/** JupyterLab draws the first suggestion within this time, in ms. */
const DRAWN_MS = 200;
const NOTHING: IInlineCompletionList = { items: [] };

type Answer = (list: IInlineCompletionList) => void;

export class LabCompletionProvider {
  constructor(private readonly parts: ILabCompletionParts) {}

  /** JupyterLab's settings of this provider: the timeout. */
  configure({ timeout }: Readonly<Record<string, unknown>>): void {
    this.patience = typeof timeout === 'number' ? timeout : PATIENCE_MS;
  }

  /**
   * Resolves when the first suggestion is complete. When all are, JupyterLab
   * fetches again and gets them at once.
   */
  fetch(
    request: CompletionHandler.IRequest,
    widget: Widget,
    isAutomatic: boolean
  ): Promise<IInlineCompletionList> {
    const place = this.parts.documents.placeIn(widget);
    if (place === null || !this.mayAsk(place, request, isAutomatic)) {
      return Promise.resolve(NOTHING);
    }
    const { whole } = this;
    this.whole = null;
    if (whole !== null && isStill(whole, place.view)) {
      return Promise.resolve({ items: whole.suggestions.map(itemOf) });
    }
    return new Promise(answer => {
      this.asked?.stop();
      this.asked = this.ask(place, isAutomatic, widget.id, answer);
    });
  }

  /**
   * Ends when no more suggestions come; until then JupyterLab shows that more
   * may. Yields the text again if unchanged.
   */
  async *stream(
    token: string
  ): AsyncGenerator<{ response: IInlineCompletionItem }> {
    const asked = this.asked;
    if (asked?.token === token && (await asked.over) !== null) {
      yield { response: { insertText: asked.text } };
    }
  }

  /**
   * The text or the caret of an editor changed: pending answers are outdated.
   */
  moved(view: EditorView): void {
    if (this.asked?.view === view) {
      this.asked.stop();
      this.asked = null;
    }
  }

  private mayAsk(
    { view }: IQueryPosition,
    { text, offset }: CompletionHandler.IRequest,
    isAutomatic: boolean
  ): boolean {
    const { preferences, isTaken } = this.parts;
    const { doc, selection } = view.state;
    return (
      hasPlainCaret(view) &&
      !isTaken(view) &&
      // Text written by the agent or another user triggers no request.
      (!isAutomatic ||
        (preferences.current?.automatic === true && view.hasFocus)) &&
      doc.toString() === text &&
      charactersIn(text.slice(0, selection.main.head)) === offset
    );
  }

  private ask(
    place: IQueryPosition,
    isAutomatic: boolean,
    widgetId: string,
    answer: Answer
  ): Asked {
    const { completions, hint } = this.parts;
    const question = suggestionQueryAt(
      place,
      isAutomatic ? 'automatic' : 'invoke'
    );
    const asked: Asked = new Asked(place.view, answer, this.patience);
    asked.asking = completions.ask(question, {
      suggested: text => asked.first(text),
      ended: end => {
        if (end !== null) {
          hint.tell(end);
        }
        const suggestions = asked.end(end);
        if (suggestions.length > 1 && this.asked === asked) {
          this.whole = { ...asked.place, suggestions };
          this.showWhole(widgetId);
        }
      }
    });
    return asked;
  }

  /**
   * Dismissed suggestions do not come back; the others are available at the
   * next request.
   */
  private showWhole(widgetId: string): void {
    const { isShown, again } = this.parts;
    const { whole } = this;
    if (isShown(widgetId)) {
      again(widgetId);
      return;
    }
    setTimeout(() => {
      const isLate = whole === null || !isStill(whole, whole.view);
      if (this.whole === whole && !isLate && isShown(widgetId)) {
        again(widgetId);
      }
    }, DRAWN_MS);
  }

  private asked: Asked | null = null;
  /** All suggestions where the first one is shown, for the next fetch. */
  private whole: (IAsked & { readonly suggestions: readonly string[] }) | null =
    null;
  private patience = PATIENCE_MS;
}

/** Where suggestions were requested. */
interface IAsked {
  readonly view: EditorView;
  readonly doc: Text;
  readonly head: number;
}

/** One request, until its last suggestion. */
class Asked {
  constructor(
    readonly view: EditorView,
    private readonly answer: Answer,
    patience: number
  ) {
    const { doc, selection } = view.state;
    this.place = { view, doc, head: selection.main.head };
    this.timer = setTimeout(() => this.stop(), patience);
    this.over = new Promise(resolve => {
      this.finish = resolve;
    });
  }

  readonly place: IAsked;
  /** Identifies the item that may be followed by others. */
  readonly token = `${performance.now()}`;
  /** Settled when nothing more comes; null when cancelled. */
  readonly over: Promise<CompletionEnd | null>;
  /** The first suggestion. */
  text = '';
  asking: ISuggestionRequest | null = null;

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
    this.asking?.cancel();
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

function isStill(asked: IAsked, view: EditorView): boolean {
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
