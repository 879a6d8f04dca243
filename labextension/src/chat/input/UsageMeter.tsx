/** Context use and cost of the conversation; opens the budget form. */

import * as React from 'react';

import { formatMoney, formatTokens } from '../../text/numberFormat';
import { useLeadingAgent } from '../agents/useLeadingAgent';
import type { Conversation } from '../../wire/generated';
import { useTrans, usePendingInput } from '../../ui/hooks';

/** Context use that shows a warning. */
const NEARLY_FULL = 0.8;

export function UsageMeter({
  view
}: {
  view: Conversation;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { editBudget } = usePendingInput();
  const agent = useLeadingAgent(view);
  const tokens = agent === null ? view.context_tokens : agent.context_used;
  const window = agent === null ? view.context_window : agent.context_size;
  const { usage } = view;
  const { cost_micro_usd: cost } = usage;
  if (tokens === null) {
    return null;
  }
  const share = window === null ? 0 : Math.min(1, tokens / window);
  const full = share > NEARLY_FULL;
  const title = trans.__(
    'Context: %1 of %2 tokens. Cost of this conversation: %3. Opens the budget.',
    formatTokens(tokens),
    window === null ? '?' : formatTokens(window),
    cost === null ? trans.__('unknown') : formatMoney(cost)
  );
  return (
    <button
      type="button"
      className={`shoulders-UsageMeter ${full ? 'shoulders-mod-full' : ''}`}
      title={title}
      aria-label={title}
      onClick={editBudget}
    >
      <Gauge share={share} />
      {formatTokens(tokens)}
      {cost !== null && cost > 0 && (
        <span className="shoulders-UsageMeter-cost">{formatMoney(cost)}</span>
      )}
    </button>
  );
}

/** A ring that fills. */
function Gauge({ share }: { share: number }): React.JSX.Element {
  return (
    <svg
      className="shoulders-Gauge"
      viewBox="0 0 12 12"
      width="12"
      height="12"
      aria-hidden="true"
    >
      <circle cx="6" cy="6" r="4.500" pathLength="100" />
      <circle
        cx="6"
        cy="6"
        r="4.500"
        pathLength="100"
        strokeDasharray={`${share * 100} 100`}
      />
    </svg>
  );
}
