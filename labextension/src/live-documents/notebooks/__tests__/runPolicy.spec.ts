import { describe, expect, test } from 'vitest';

import { policyOf, withPolicy } from '../runPolicy';

describe('run policies', () => {
  test.each([
    [undefined, 'free'],
    [['plot'], 'free'],
    [['ask-before-run'], 'ask'],
    [['never-run', 'plot'], 'never'],
    [['ask-before-run', 'never-run'], 'never'],
    ['never-run', 'free']
  ])('of the tags %j is %s', (tags, policy) => {
    expect(policyOf(tags)).toBe(policy);
  });

  test('are set without touching other tags', () => {
    expect(withPolicy(undefined, 'never')).toEqual(['never-run']);
    expect(withPolicy(['a', 'never-run', 'b'], 'ask')).toEqual([
      'a',
      'b',
      'ask-before-run'
    ]);
    expect(withPolicy(['ask-before-run'], 'free')).toEqual([]);
  });
});
