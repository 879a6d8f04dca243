/** Texts of *Fix & run*. Pure; used by the bar above a traceback. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { legible } from '../text/hiddenCharacters';
import type { Failure } from './cellFix';
import type { ICause } from './errorCause';
import { errorText } from './promptMessages';

/** For example `NameError: name 'price' is not defined`. */
export function causeText({ name, message }: ICause): string {
  return [name, message].filter(part => part !== '').join(': ');
}

/** The user's line, if known. */
export function lineText({ line }: ICause, trans: TranslationBundle): string {
  return line === null ? '' : trans.__('Line %1: %2', line.number, line.code);
}

export function failureText(
  failure: Failure,
  trans: TranslationBundle
): string {
  switch (failure.kind) {
    case 'error':
      return errorText(failure.error, trans);
    case 'paused':
      return trans.__('Waiting for your decision in the chat.');
    case 'clash':
      return trans.__('You changed the same lines. Nothing was changed.');
    case 'advice':
      return failure.text === ''
        ? trans.__('No fix found. Nothing was changed.')
        : legible(failure.text);
    case 'flaw':
      return failure.flaw === 'masked'
        ? trans.__(
            'The fix would overwrite a key or password. Nothing was changed.'
          )
        : trans.__('The answer was cut off. Nothing was changed.');
    case 'obstacle':
      return obstacle(failure.obstacle, trans);
  }
}

function obstacle(
  reason: Extract<Failure, { kind: 'obstacle' }>['obstacle'],
  trans: TranslationBundle
): string {
  switch (reason) {
    case 'read-only-document':
      return trans.__('This notebook is read-only.');
    case 'read-only-cell':
      return trans.__('This cell is locked.');
    case 'gone':
      return trans.__('This cell was deleted.');
    case 'too-long':
      return trans.__('This cell is too long to fix at once. Ask in the chat.');
  }
}
