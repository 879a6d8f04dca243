/**
 * The same suggestions through the lab's own inline completer: while one types, where the settings allow it, and with
 * Alt+\. The lab draws them. Loaded with the page of suggestions; the plugin registers the provider.
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

/** What the lab's completer is answered from. */
export interface ILabCompletionParts {
  readonly documents: Pick<OpenEditors, 'placeIn'>;
  readonly completions: Pick<SuggestionRequests, 'ask'>;
  readonly preferences: Pick<CompletionPreferences, 'current'>;
  readonly hint: Pick<UnavailableHint, 'tell'>;
  /** Whether an editor shows suggestions of `++`. */
  readonly isTaken: (view: EditorView) => boolean;
  /** Whether the lab shows something in a document. */
  readonly isShown: (widgetId: string) => boolean;
  /** Have the lab ask again for what a document shows. */
  readonly again: (widgetId: string) => void;
}

/** What to give up after, in ms, unless the settings of the lab say otherwise. */
const PATIENCE_MS = 15_000;
/** The lab draws the first suggestion within this time, in ms. */
const DRAWN_MS = 200;
const NOTHING: IInlineCompletionList = { items: [] };

type Answer = (list: IInlineCompletionList) => void;

/** The provider. */
export class LabCompletionProvider {
  constructor(private readonly parts: ILabCompletionParts) {}

  /** The lab's settings of this provider: how long it waits. */
  configure({ timeout }: Readonly<Record<string, unknown>>): void {
    this.patience = typeof timeout === 'number' ? timeout : PATIENCE_MS;
  }

  /** Answers as soon as the first suggestion is whole; when all are, the lab asks again and gets them at once. */
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

  /** Ends when no more suggestions come; until then the lab shows that some may. Says the text again, if it is still so. */
  async *stream(
    token: string
  ): AsyncGenerator<{ response: IInlineCompletionItem }> {
    const asked = this.asked;
    if (asked?.token === token && (await asked.over) !== null) {
      yield { response: { insertText: asked.text } };
    }
  }

  /** The text or the caret of an editor is another: what was asked about it is late. */
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
      // What an agent or another user writes asks for nothing.
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

  /** What the user has dismissed does not come back; the others are there when they ask. */
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
  /** All suggestions where the first one is shown, for the lab to take. */
  private whole: (IAsked & { readonly suggestions: readonly string[] }) | null =
    null;
  private patience = PATIENCE_MS;
}

/** Where something was asked. */
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
  /** Names the item that may be followed by others. */
  readonly token = `${performance.now()}`;
  /** Settled when nothing more comes; null: it was let go. */
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

  /** What came after the first answer, and is to be fetched. */
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

/** As the lab counts them: a character outside of the first plane is one. */
function charactersIn(text: string): number {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g);
  return text.length - (pairs?.length ?? 0);
}

function itemOf(insertText: string): IInlineCompletionItem {
  return { insertText };
}
