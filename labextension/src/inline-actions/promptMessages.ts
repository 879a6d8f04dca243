/** Texts of a prompt. Pure; used by its view. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import type { ErrorInfo } from '../wire/generated';
import {
  MAX_SELECTION,
  type InlineEdit,
  type Obstacle,
  type Ready,
  type Stage
} from './inlineEdit';

export function titleOf(
  { task, target }: InlineEdit,
  trans: TranslationBundle
): string {
  if (task === 'insert') {
    return trans.__('Write a new cell below');
  }
  if (target.part !== null) {
    return trans.__('Change the selected text');
  }
  return target.cellId === null
    ? trans.__('Change this file')
    : trans.__('Change this cell');
}

export function placeholderOf(
  { task, target }: InlineEdit,
  trans: TranslationBundle
): string {
  if (task === 'insert') {
    return trans.__('What should the new cell do?');
  }
  return target.part === null
    ? trans.__('What should change?')
    : trans.__('What should change in the selected text?');
}

export function workingText(
  { retrying }: Extract<Stage, { kind: 'working' }>,
  trans: TranslationBundle
): string {
  return retrying
    ? trans.__('The provider is busy. Trying again soon…')
    : trans.__('Writing…');
}

export function readyText(
  { task }: InlineEdit,
  { isConflict, flaw, extent: { added, removed } }: Ready,
  trans: TranslationBundle
): string {
  if (flaw === 'masked') {
    return trans.__(
      'This text contains a key or password, which is masked in the answer, so the answer cannot be applied. Select the lines without it.'
    );
  }
  if (flaw === 'cut') {
    return trans.__(
      'The answer was cut off, so it cannot be applied. Try again, or ask for less at once.'
    );
  }
  if (isConflict) {
    return trans.__(
      'You changed the same lines in the meantime. Ask again, or replace your text with the answer.'
    );
  }
  if (task === 'insert') {
    return trans._n('New cell, %1 line', 'New cell, %1 lines', added);
  }
  return added === 0 && removed === 0
    ? trans.__('Nothing needs to change.')
    : trans.__('Lines: %1 added, %2 removed', added, removed);
}

export function obstacleText(
  { target }: InlineEdit,
  obstacle: Obstacle,
  trans: TranslationBundle
): string {
  switch (obstacle) {
    case 'read-only-document':
      return target.cellId === null
        ? trans.__('This file cannot be changed: it is read-only.')
        : trans.__('This notebook cannot be changed: it is read-only.');
    case 'read-only-cell':
      return trans.__('This cell cannot be changed: it is locked.');
    case 'gone':
      return trans.__('The text is no longer there.');
    case 'too-long':
      return trans.__(
        'This is too long to rewrite at once (over %1 characters). Select the lines to change.',
        MAX_SELECTION
      );
  }
}

export function errorText(
  { message, hint, code }: ErrorInfo,
  trans: TranslationBundle
): string {
  const said =
    message !== ''
      ? serverText(trans, message)
      : code === 'aborted'
        ? trans.__('Stopped.')
        : trans.__('No answer.');
  return visible(hint === null ? said : `${said} ${serverText(trans, hint)}`);
}
