/** Converts between rules and the single pattern of the form. Used by the rules section. */

import type { RuleBody } from '../../wire/generated';

export type Condition = 'any' | 'path' | 'notebook' | 'command' | 'domain';

export const CONDITIONS: readonly Condition[] = [
  'any',
  'path',
  'notebook',
  'command',
  'domain'
];

/** Contents of the rule form. */
export interface IRuleText {
  readonly action: RuleBody['action'];
  readonly tool: string;
  readonly condition: Condition;
  readonly pattern: string;
  /** One example per line. */
  readonly fits: string;
  readonly fitsNot: string;
}

export const NEW_RULE: IRuleText = {
  action: 'ask',
  tool: '',
  condition: 'any',
  pattern: '',
  fits: '',
  fitsNot: ''
};

/** The form of a rule; null for a rule with several patterns, which can only be edited in its file. */
export function ruleText(rule: RuleBody): IRuleText | null {
  const patterns = Object.entries(rule.match ?? {}).filter(
    ([, value]) => value !== null
  );
  const [name, value] = patterns[0] ?? ['any', ''];
  const condition = CONDITIONS.find(each => each === name);
  if (
    patterns.length > 1 ||
    condition === undefined ||
    typeof value !== 'string'
  ) {
    return null;
  }
  return {
    action: rule.action,
    tool: rule.tool,
    condition,
    pattern: value,
    fits: (rule.examples?.match ?? []).join('\n'),
    fitsNot: (rule.examples?.not_match ?? []).join('\n')
  };
}

/** The rule of a form; null if incomplete. */
export function ruleOf(text: IRuleText): RuleBody | null {
  const tool = text.tool.trim();
  const pattern = text.pattern.trim();
  if (tool === '' || (text.condition !== 'any' && pattern === '')) {
    return null;
  }
  const match = lines(text.fits);
  const not_match = lines(text.fitsNot);
  const isTried = match.length + not_match.length > 0;
  return {
    action: text.action,
    tool,
    match: text.condition === 'any' ? null : { [text.condition]: pattern },
    examples: isTried ? { match, not_match } : null
  };
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');
}
