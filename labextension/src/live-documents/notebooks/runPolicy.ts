/** Whether the agent may run a cell, read from the cell's tags. Pure; used by the cells plugin. */

/** `ask`: only after the user's approval; `never`: not at all; `free`: as the mode allows. */
export type RunPolicy = 'ask' | 'never' | 'free';

/** The server reads the same tags. */
const TAGS: Record<Exclude<RunPolicy, 'free'>, string> = {
  ask: 'ask-before-run',
  never: 'never-run'
};

/** The policy of a cell; the stricter tag counts. */
export function policyOf(tags: unknown): RunPolicy {
  const has = (tag: string): boolean =>
    Array.isArray(tags) && tags.includes(tag);
  if (has(TAGS.never)) {
    return 'never';
  }
  return has(TAGS.ask) ? 'ask' : 'free';
}

/** The tags of a cell with another policy; other tags stay. */
export function withPolicy(tags: unknown, policy: RunPolicy): string[] {
  const own: readonly string[] = Object.values(TAGS);
  const others = Array.isArray(tags)
    ? tags.filter((tag): tag is string => typeof tag === 'string')
    : [];
  const kept = others.filter(tag => !own.includes(tag));
  return policy === 'free' ? kept : [...kept, TAGS[policy]];
}
