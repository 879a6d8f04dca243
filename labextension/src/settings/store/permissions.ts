/** Changes of the permissions as pure functions of the stored list, so that they can be repeated on a newer one. */

import type {
  Json,
  PutPermissions,
  RuleInfo,
  RuleBody,
  ToolList
} from '../../wire/generated';
import { changedElsewhere } from './conflict';
import { same } from './drafts';

/** A change; null when there is nothing to change. */
export type PermissionChange = (now: PutPermissions) => PutPermissions | null;

/** The request body that changes nothing. */
export function bodyOf(list: ToolList): Required<PutPermissions> {
  return {
    version: 1,
    disabled: list.disabled,
    disable_external: list.disable_external,
    rules: list.rules.filter(rule => !rule.locked).map(ruleBody),
    revision: list.revision
  };
}

/** The request form of a rule. */
export function ruleBody({
  action,
  tool,
  match,
  examples
}: RuleInfo): RuleBody {
  return { action, tool, match, examples };
}

/** Switch one tool on or off. */
export function switchTool(name: string, on: boolean): PermissionChange {
  return now => {
    const rest = now.disabled.filter(each => each !== name);
    return { ...now, disabled: on ? rest : [...rest, name] };
  };
}

/** Switch all external tools off, or restore their own switches. */
export function switchExternal(off: boolean): PermissionChange {
  return now => ({ ...now, disable_external: off });
}

/** Add a rule, unless it exists. */
export function addRule(rule: RuleBody): PermissionChange {
  return now =>
    position(now, rule) < 0 ? { ...now, rules: [...now.rules, rule] } : null;
}

/** Remove a rule; null when it no longer exists. */
export function removeRule(rule: RuleBody): PermissionChange {
  return now => {
    const at = position(now, rule);
    return at < 0
      ? null
      : { ...now, rules: now.rules.filter((_, index) => index !== at) };
  };
}

/** Replace a rule. */
export function replaceRule(old: RuleBody, rule: RuleBody): PermissionChange {
  return now => {
    const at = position(now, old);
    if (at < 0) {
      throw changedElsewhere();
    }
    const rules = now.rules.map((each, index) => (index === at ? rule : each));
    return { ...now, rules };
  };
}

/** Move a rule up or down by one. */
export function moveRule(rule: RuleBody, by: -1 | 1): PermissionChange {
  return now => {
    const rules = [...now.rules];
    const at = position(now, rule);
    const other = rules[at + by];
    if (at < 0 || other === undefined) {
      return null;
    }
    rules[at + by] = rule;
    rules[at] = other;
    return { ...now, rules };
  };
}

function position(now: PutPermissions, rule: RuleBody): number {
  return now.rules.findIndex(each => same(plain(each), plain(rule)));
}

/** Equal rules give equal values, whatever the order of keys. */
function plain({ action, tool, match, examples }: RuleBody): Json {
  const sorted = Object.entries(match ?? {}).sort(([a], [b]) =>
    a < b ? -1 : 1
  );
  return [
    action,
    tool,
    match === null ? null : sorted.map(([name, value]) => [name, value]),
    examples === null ? null : [examples.match, examples.not_match]
  ];
}

/** Problems of the permissions, except those shown beside a rule. */
export function otherProblems(list: ToolList): readonly string[] {
  return list.problems.filter(problem =>
    list.rules.every(
      rule => rule.problem === null || !problem.endsWith(rule.problem)
    )
  );
}
