/** Announcements of suggestions for screen readers. Pure; used by `controller.ts`. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { legible } from '../text/hiddenCharacters';
import { shownSuggestion, type ISuggestionState } from './suggestionState';

/** Announce a suggestion when it is shown, and the number of suggestions when all have come. */
export function screenReaderText(
  now: ISuggestionState,
  before: ISuggestionState | null,
  trans: TranslationBundle
): string | null {
  const shown = shownSuggestion(now);
  const { index, isComplete, suggestions } = now;
  const { length } = suggestions;
  if (shown === null) {
    return null;
  }
  if (shown !== shownSuggestion(before)) {
    return isComplete && length > 1
      ? trans.__('Suggestion %1 of %2: %3', index + 1, length, legible(shown))
      : trans.__('Suggestion: %1', legible(shown));
  }
  return isComplete && before?.isComplete === false
    ? trans._n('%1 suggestion', '%1 suggestions', length)
    : null;
}
