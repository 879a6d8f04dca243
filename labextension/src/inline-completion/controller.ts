/**
 * Suggestions at the caret: requests and all key handling after them. Loaded by the inline completion plugin with the
 * first notebook or file. At most one editor of the page shows suggestions or waits for them.
 */

import '../../style/documents/inline-completion.css';
import '../../style/lab/status-bar.css';

import { syntaxTree } from '@codemirror/language';
import { StateEffect } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  SuggestionRequests,
  ISuggestionRequest
} from './suggestionRequests';
import type { OpenEditors } from './openEditors';
import type { UnavailableHint } from './unavailableHint';
import { CompletionKeys, type IKeyedCommands } from './keyBindings';
import { isLiteralPlusPlus } from './literalPlusPlus';
import type { CompletionPreferences } from './preferences';
import { hasPlainCaret, suggestionQueryAt } from './requestBody';
import {
  firstWord,
  shownSuggestion,
  type ISuggestionState
} from './suggestionState';
import { screenReaderText } from './screenReader';
import { blink } from './emptyResultMark';
import {
  suggestionsIn,
  suggestionView,
  hasSuggestionView,
  acceptSuggestion,
  updateSuggestions
} from './ghostText';

/** Services the controller needs. */
export interface IInlineCompletionParts {
  readonly commands: IKeyedCommands;
  /** The commands that act on a shown suggestion. */
  readonly ownCommands: ReadonlySet<string>;
  readonly documents: OpenEditors;
  readonly completions: SuggestionRequests;
  readonly preferences: CompletionPreferences;
  readonly hint: UnavailableHint;
  readonly trans: TranslationBundle;
  /** Announce a text to screen readers. */
  readonly announce: (text: string) => void;
}

/** Controls the suggestions; lives as long as the page. */
export class InlineCompletionController {
  constructor(private readonly parts: IInlineCompletionParts) {
    const { commands, ownCommands } = parts;
    this.keys = new CompletionKeys(commands, ownCommands, () =>
      this.otherInput()
    );
  }

  /** Whether `++` at this offset requests suggestions; null until the settings are known. */
  canRequest(view: EditorView, at: number): boolean | null {
    const settings = this.parts.preferences.current;
    if (settings === null) {
      return null;
    }
    const place = settings.enabled_plus
      ? this.parts.documents.positionOf(view)
      : null;
    return (
      place !== null &&
      !isLiteralPlusPlus(
        {
          language: place.language,
          isQuoted: isQuoted(view, at),
          before: view.state.sliceDoc(Math.max(0, at - 1), at)
        },
        settings.skip_languages
      )
    );
  }

  /** Settled when the settings are known or cannot be read. */
  settingsLoaded(): Promise<void> {
    return this.parts.preferences.loaded();
  }

  /** Request suggestions at the caret of an editor. */
  request(view: EditorView, trigger: 'plus' | 'invoke' = 'plus'): void {
    const { documents, completions, hint, trans, announce } = this.parts;
    const place = documents.positionOf(view);
    if (place === null || !hasPlainCaret(view)) {
      return;
    }
    if (!hasSuggestionView(view)) {
      const extension = suggestionView((changed, ghost) =>
        this.onChange(changed, ghost)
      );
      view.dispatch({ effects: StateEffect.appendConfig.of(extension) });
    }
    this.dismiss(); // For example in another editor.
    const generation = ++this.generation;
    updateSuggestions(view, { type: 'ask', generation });
    const asking = completions.request(suggestionQueryAt(place, trigger), {
      suggested: text =>
        updateSuggestions(view, { type: 'suggest', generation, text }),
      ended: end => {
        const suggestions = end?.suggestions ?? [];
        updateSuggestions(view, { type: 'end', generation, suggestions });
        if (end !== null) {
          hint.report(end);
        }
        if (suggestions.length === 0 && end?.reason === 'nothing') {
          announce(trans.__('No suggestions.'));
          blink(view);
        }
      }
    });
    this.current = { view, asking };
  }

  /** Request suggestions at the caret of a document, by default the current one. */
  requestIn(widget: Parameters<OpenEditors['positionIn']>[0]): void {
    const view = this.parts.documents.positionIn(widget)?.view;
    if (view !== undefined) {
      view.focus();
      this.request(view, 'invoke');
    }
  }

  /** Whether an editor shows suggestions or waits for them. */
  has({ state }: EditorView): boolean {
    return suggestionsIn(state) !== null;
  }

  /** Whether any editor shows a suggestion that can be accepted. */
  get isActive(): boolean {
    return this.shown !== null;
  }

  accept(): void {
    this.acceptPart(text => text);
  }

  acceptWord(): void {
    this.acceptPart(firstWord);
  }

  cycle(by: 1 | -1): void {
    if (this.current !== null) {
      updateSuggestions(this.current.view, { type: 'cycle', step: by });
    }
  }

  dismiss(): void {
    if (this.current !== null) {
      updateSuggestions(this.current.view, { type: 'drop' });
    }
  }

  private acceptPart(part: (text: string) => string): void {
    const { shown, current } = this;
    const place =
      current === null ? null : this.parts.documents.positionOf(current.view);
    if (shown !== null && current !== null && place !== null) {
      const { view, asking } = current;
      asking.cancel();
      place.asOneStep(() => acceptSuggestion(view, part(shown)));
    }
  }

  /** Another key or a click; awaited suggestions still come. */
  private otherInput(): void {
    if (this.isActive) {
      this.dismiss();
    }
  }

  private onChange(view: EditorView, ghost: ISuggestionState | null): void {
    if (ghost === null) {
      this.onEditorRemoved(view);
      return;
    }
    this.keys.listen(true);
    const announced = screenReaderText(ghost, this.announced, this.parts.trans);
    if (announced !== null) {
      this.parts.announce(announced);
    }
    this.announced = ghost;
  }

  private onEditorRemoved(view: EditorView): void {
    if (this.current?.view === view) {
      this.current.asking.cancel();
      this.current = null;
      this.announced = null;
      this.keys.listen(false);
    }
  }

  private get shown(): string | null {
    const { current } = this;
    return current === null
      ? null
      : shownSuggestion(suggestionsIn(current.view.state));
  }

  private readonly keys: CompletionKeys;
  private generation = 0;
  private current: {
    readonly view: EditorView;
    readonly asking: ISuggestionRequest;
  } | null = null;
  private announced: ISuggestionState | null = null;
}

/** Whether an offset is in a comment or a string; every grammar of JupyterLab names such nodes alike. */
function isQuoted({ state }: EditorView, at: number): boolean {
  const { name } = syntaxTree(state).resolveInner(at, -1);
  return /comment|string/i.test(name);
}
