/** Which tools are slow and refused, and how turns ended. Pure; used by the usage section. */

import type { ToolUsage, TurnUsage } from '../../wire/generated';

/** Rows of a ranking. */
const MOST_ROWS = 5;

/** The tools whose slow calls take longest, the slowest first. */
export function slowestTools(tools: readonly ToolUsage[]): ToolUsage[] {
  return tools
    .filter(({ p95_ms }) => p95_ms !== null)
    .sort((a, b) => (b.p95_ms ?? 0) - (a.p95_ms ?? 0))
    .slice(0, MOST_ROWS);
}

/** The tools whose calls were denied most often. */
export function mostRefusedTools(tools: readonly ToolUsage[]): ToolUsage[] {
  return tools
    .filter(({ denied }) => denied > 0)
    .sort((a, b) => b.denied - a.denied)
    .slice(0, MOST_ROWS);
}

/** Turns that ended in one of these ways. */
export function turnsWith(
  { exits }: TurnUsage,
  wanted: readonly string[]
): number {
  return exits
    .filter(({ exit }) => wanted.includes(exit))
    .reduce((sum, { turns }) => sum + turns, 0);
}
