import { describe, expect, test } from 'vitest';

import type { RuleInfo, RuleBody } from '../../../wire/generated';
import {
  bodyOf,
  moveRule,
  otherProblems,
  removeRule,
  replaceRule,
  switchTool
} from '../../store/permissions';
import { NEW_RULE, ruleOf, ruleText } from '../rulePatterns';
import { firstSentence } from '../../sections/ToolsSection';
import { FakeApi } from '../../__tests__/fakes';

const rule = (tool: string, change: Partial<RuleBody> = {}): RuleBody => ({
  action: 'ask',
  tool,
  match: null,
  examples: null,
  ...change
});
const shown = (body: RuleBody, change: Partial<RuleInfo> = {}): RuleInfo => ({
  ...body,
  problem: null,
  line: null,
  locked: false,
  applies: true,
  note: null,
  ...change
});

describe('changes of the permissions', () => {
  const now = {
    rules: [rule('a'), rule('b'), rule('c')],
    disabled: ['x'],
    disable_external: false
  };
  const tools = (change: { rules?: RuleBody[] } | null) =>
    change?.rules?.map(({ tool }) => tool);

  test('move, remove and replace a rule by what it says', () => {
    expect(tools(moveRule(rule('b'), -1)(now))).toEqual(['b', 'a', 'c']);
    expect(tools(moveRule(rule('b'), 1)(now))).toEqual(['a', 'c', 'b']);
    expect(tools(moveRule(rule('a'), -1)(now))).toBeUndefined();
    expect(tools(removeRule(rule('c'))(now))).toEqual(['a', 'b']);
    expect(tools(removeRule(rule('d'))(now))).toBeUndefined();
    expect(tools(replaceRule(rule('a'), rule('d'))(now))).toEqual([
      'd',
      'b',
      'c'
    ]);
    expect(() => replaceRule(rule('e'), rule('d'))(now)).toThrow();
  });

  test('find a rule whatever the order of its patterns', () => {
    const stored = rule('a', { match: { path: 'x', command: 'y' } });
    const same = rule('a', { match: { command: 'y', path: 'x' } });

    expect(tools(removeRule(same)({ ...now, rules: [stored] }))).toEqual([]);
  });

  test('switch a tool once', () => {
    expect(switchTool('y', false)(now)?.disabled).toEqual(['x', 'y']);
    expect(switchTool('x', true)(now)?.disabled).toEqual([]);
    expect(switchTool('x', false)(now)?.disabled).toEqual(['x']);
  });

  test('leave the administrator’s rules to the administrator', () => {
    const list = {
      ...new FakeApi().list,
      rules: [shown(rule('a'), { locked: true }), shown(rule('b'))]
    };

    expect(bodyOf(list).rules).toEqual([rule('b')]);
  });

  test('tell problems of rules from others', () => {
    const list = {
      ...new FakeApi().list,
      rules: [shown(rule('b'), { problem: 'tool: too short' })],
      problems: ['Rule 1, line 3: tool: too short', 'It names no tool.']
    };

    expect(otherProblems(list)).toEqual(['It names no tool.']);
  });
});

describe('the form of a rule', () => {
  const body = rule('run_command', {
    match: { command: 'git diff', path: null },
    examples: { match: ['git diff HEAD'], not_match: ['git push'] }
  });

  test('holds one pattern and its examples', () => {
    const text = ruleText(body);

    expect(text).toEqual({
      action: 'ask',
      tool: 'run_command',
      condition: 'command',
      pattern: 'git diff',
      fits: 'git diff HEAD',
      fitsNot: 'git push'
    });
    expect(text && ruleOf(text)).toEqual({
      ...body,
      match: { command: 'git diff' }
    });
  });

  test('is not for rules it cannot show whole', () => {
    const two = { path: 'a', command: 'b' };
    expect(ruleText(rule('a', { match: two }))).toBeNull();
    expect(ruleText(rule('a', { match: { colour: 'red' } }))).toBeNull();
    expect(ruleText(rule('a', { match: { path: 3 } }))).toBeNull();
  });

  test('gives no rule before it is complete', () => {
    expect(ruleOf(NEW_RULE)).toBeNull();
    expect(ruleOf({ ...NEW_RULE, tool: ' a ' })).toEqual(rule('a'));
    expect(ruleOf({ ...NEW_RULE, tool: 'a', condition: 'path' })).toBeNull();
  });
});

test('a tool is described by its first sentence', () => {
  expect(firstSentence('Run a cell.\nMore.')).toBe('Run a cell.');
  expect(firstSentence('Edit e.g.x or v1.2 files. More')).toBe(
    'Edit e.g.x or v1.2 files.'
  );
  expect(firstSentence('Replace text: old by new.')).toBe('Replace text.');
  expect(firstSentence('No full stop')).toBe('No full stop');
});
