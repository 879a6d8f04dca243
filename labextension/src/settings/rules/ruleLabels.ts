/** Labels of permission rules. Used by the list and the form. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { RuleInfo } from '../../wire/generated';

/** Name of a rule's action. */
export function actionName(
  action: RuleInfo['action'],
  trans: TranslationBundle
): string {
  switch (action) {
    case 'deny':
      return trans.__('Deny');
    case 'ask':
      return trans.__('Ask');
    case 'allow':
      return trans.__('Allow');
  }
}

/** The condition before its pattern; unknown kinds, from later versions, keep their name. */
export function conditionName(name: string, trans: TranslationBundle): string {
  const names: Record<string, string> = {
    any: trans.__('always'),
    path: trans.__('where the path is'),
    notebook: trans.__('in the notebook'),
    command: trans.__('for commands that begin with'),
    domain: trans.__('for the host')
  };
  return names[name] ?? name;
}
