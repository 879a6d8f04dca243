/** What the agent may do with a cell, as tags of the cell say it; pure. Used by the cells plugin. */

/** `ask`: only after the user allowed it; `never`: not at all; `free`: as the mode says. */
export type RunPolicy = 'ask' | 'never' | 'free';

/** The server reads the same tags. */
const TAGS: Record<Exclude<RunPolicy, 'free'>, string> = {
  ask: 'ask-before-run',
  never: 'never-run'
};

/** The policy of a cell; the stricter one counts. */
export function policyOf(tags: unknown): RunPolicy {
  const has = (tag: string): boolean =>
    Array.isArray(tags) && tags.includes(tag);
  if (has(TAGS.never)) {
    return 'never';
  }
  return has(TAGS.ask) ? 'ask' : 'free';
}

/** The tags of a cell with another policy; all others stay as they are. */
export function withPolicy(tags: unknown, policy: RunPolicy): string[] {
  const own: readonly string[] = Object.values(TAGS);
  const others = Array.isArray(tags)
    ? tags.filter((tag): tag is string => typeof tag === 'string')
    : [];
  const kept = others.filter(tag => !own.includes(tag));
  return policy === 'free' ? kept : [...kept, TAGS[policy]];
}
