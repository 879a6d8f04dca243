/**
 * The state of the suggestions at one caret: idle (null), loading, active. Pure; the state field of `ghostText.ts`
 * uses it.
 */

export interface ISuggestionState {
  /** The request's number; answers to other requests are ignored. */
  readonly generation: number;
  readonly phase: 'loading' | 'active';
  /** Distinct and not empty. */
  readonly suggestions: readonly string[];
  /** Index of the shown suggestion. */
  readonly index: number;
  /** Whether no more will come. */
  readonly isComplete: boolean;
}

/** Events that change the state. */
export type SuggestionEvent =
  /** A new request; the current suggestions are removed. */
  | { readonly type: 'ask'; readonly generation: number }
  /** One suggestion is complete. */
  | {
      readonly type: 'suggest';
      readonly generation: number;
      readonly text: string;
    }
  /** All suggestions, best first. */
  | {
      readonly type: 'end';
      readonly generation: number;
      readonly suggestions: readonly string[];
    }
  | { readonly type: 'cycle'; readonly step: 1 | -1 }
  /** The beginning of the shown suggestion was inserted; the rest stays. */
  | { readonly type: 'take'; readonly text: string }
  | { readonly type: 'drop' };

/** The state after an event. */
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
      return ghost === null ? null : withoutAccepted(ghost, event.text);
    case 'drop':
      return null;
    default:
      return event satisfies never;
  }
}

/** The shown suggestion; null without one. */
export function shownSuggestion(ghost: ISuggestionState | null): string | null {
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

/** The final list; the shown suggestion stays. */
function ended(
  ghost: ISuggestionState,
  all: readonly string[]
): ISuggestionState | null {
  const shown = shownSuggestion(ghost);
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

/** Suggestions with the same beginning stay. No more are requested. */
function withoutAccepted(
  ghost: ISuggestionState,
  text: string
): ISuggestionState | null {
  const shown = shownSuggestion(ghost)?.slice(text.length) ?? '';
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

/** Normalise line endings and trim the end: the caret must be right behind the last visible character. */
function tidy(text: string): string {
  return text.replace(/\r\n?/g, '\n').trimEnd();
}

const WORD = /^\s*(?:[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]+)/u;

/** The beginning of a text up to the end of its first word or run of punctuation, with preceding white space. */
export function firstWord(text: string): string {
  return WORD.exec(text)?.[0] ?? text;
}
