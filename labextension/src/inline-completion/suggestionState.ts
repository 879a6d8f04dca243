/**
 * The suggestions at one caret, as values: idle (null), loading, active. Pure; the editor's state field
 * (`ghostText.ts`) steps through it.
 */

/** What an editor shows at the caret. */
export interface ISuggestionState {
  /** Of the request; answers to another are late. */
  readonly generation: number;
  readonly phase: 'loading' | 'active';
  /** None are empty, no two are the same. */
  readonly suggestions: readonly string[];
  /** The one shown. */
  readonly index: number;
  /** Whether no more will come. */
  readonly isComplete: boolean;
}

/** What happens to it. */
export type SuggestionEvent =
  /** The user asked: whatever was there goes. */
  | { readonly type: 'ask'; readonly generation: number }
  /** One suggestion is whole. */
  | {
      readonly type: 'suggest';
      readonly generation: number;
      readonly text: string;
    }
  /** These are all, best first. */
  | {
      readonly type: 'end';
      readonly generation: number;
      readonly suggestions: readonly string[];
    }
  | { readonly type: 'cycle'; readonly step: 1 | -1 }
  /** The beginning of the one shown went into the text; the rest stays, if there is any. */
  | { readonly type: 'take'; readonly text: string }
  | { readonly type: 'drop' };

/** What is shown after an event. */
export function advance(
  ghost: ISuggestionState | null,
  event: SuggestionEvent
): ISuggestionState | null {
  switch (event.type) {
    case 'ask':
      return {
        generation: event.generation,
        phase: 'loading',
        suggestions: [],
        index: 0,
        isComplete: false
      };
    case 'suggest':
      return isFor(ghost, event) ? withMore(ghost, event.text) : ghost;
    case 'end':
      return isFor(ghost, event) ? ended(ghost, event.suggestions) : ghost;
    case 'cycle':
      return ghost === null ? null : cycled(ghost, event.step);
    case 'take':
      return ghost === null ? null : taken(ghost, event.text);
    case 'drop':
      return null;
    default:
      return event satisfies never;
  }
}

/** The suggestion shown; null while none is. */
export function shownIn(ghost: ISuggestionState | null): string | null {
  return ghost?.suggestions[ghost.index] ?? null;
}

function isFor(
  ghost: ISuggestionState | null,
  event: { readonly generation: number }
): ghost is ISuggestionState {
  return (
    ghost !== null && ghost.generation === event.generation && !ghost.isComplete
  );
}

function withMore(ghost: ISuggestionState, text: string): ISuggestionState {
  const suggestions = distinct([...ghost.suggestions, text]);
  return suggestions.length === 0
    ? ghost
    : { ...ghost, phase: 'active', suggestions };
}

/** The list that holds; what the user looks at stays what they look at. */
function ended(
  ghost: ISuggestionState,
  all: readonly string[]
): ISuggestionState | null {
  const shown = shownIn(ghost);
  const suggestions = distinct(
    shown === null || all.some(each => tidy(each) === shown)
      ? all
      : [shown, ...all]
  );
  return suggestions.length === 0
    ? null
    : {
        ...ghost,
        phase: 'active',
        suggestions,
        index: shown === null ? 0 : suggestions.indexOf(shown),
        isComplete: true
      };
}

function cycled(ghost: ISuggestionState, step: number): ISuggestionState {
  const { length } = ghost.suggestions;
  return length === 0
    ? ghost
    : { ...ghost, index: (ghost.index + step + length) % length };
}

/** The others stay where they begin in the same way. Nothing is asked for any more. */
function taken(ghost: ISuggestionState, text: string): ISuggestionState | null {
  const shown = shownIn(ghost)?.slice(text.length) ?? '';
  if (shown === '') {
    return null;
  }
  const suggestions = ghost.suggestions
    .filter(each => each.startsWith(text) && each.length > text.length)
    .map(each => each.slice(text.length));
  return {
    ...ghost,
    suggestions,
    index: suggestions.indexOf(shown),
    isComplete: true
  };
}

function distinct(all: readonly string[]): string[] {
  return [...new Set(all.map(tidy))].filter(each => each.trim() !== '');
}

/** With the editor's line ends, and no blanks at its end: the caret comes to stand behind the last thing one sees. */
function tidy(text: string): string {
  return text.replace(/\r\n?/g, '\n').trimEnd();
}

const WORD = /^\s*(?:[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]+)/u;

/** The beginning of a text up to the end of its first word or run of signs, with the blanks before it. */
export function firstWord(text: string): string {
  return WORD.exec(text)?.[0] ?? text;
}
