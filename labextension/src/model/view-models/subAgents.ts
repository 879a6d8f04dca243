/** What the call of a sub-agent tells about it. Pure. */

import type { CallView, Json } from '../../wire/generated';

/** The tool that starts sub-agents. */
export const DELEGATE = 'delegate';

/** A sub-agent's report, as the server wrote it into the call's result. */
export interface ISubAgentReport {
  readonly conversation: string;
  readonly summary: string;
  readonly cost: number | null;
  readonly steps: number;
  /** Places that it cites and that do not exist. */
  readonly missing: number;
}

/** The report; null before the end, and for calls that never began. */
export function subAgentReport(call: CallView): ISubAgentReport | null {
  const data = call.result?.data;
  if (!isObject(data) || typeof data.conversation !== 'string') {
    return null;
  }
  const citations = Array.isArray(data.citations) ? data.citations : [];
  return {
    conversation: data.conversation,
    summary: typeof data.summary === 'string' ? data.summary : '',
    cost: typeof data.cost_micro_usd === 'number' ? data.cost_micro_usd : null,
    steps: typeof data.steps === 'number' ? data.steps : 0,
    missing: citations.filter(each => isObject(each) && each.found === false)
      .length
  };
}

/** The newest state that the call reported; empty before the first. */
export function subAgentProgress(call: CallView): string {
  const said = call.progress.filter(({ channel }) => channel === 'status');
  return said.at(-1)?.text.trim().split('\n').at(-1) ?? '';
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
