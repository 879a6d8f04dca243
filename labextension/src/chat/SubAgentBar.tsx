/** Above a sub-agent's conversation: what it is, and the way back to the one it works for. */

import * as React from 'react';

import { Button } from '../ui/primitives';
import { useTabContext, useTrans } from '../ui/hooks';

export function SubAgentBar(): React.JSX.Element | null {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const parent = conversations.session(tab)?.parent ?? null;
  return parent === null ? null : (
    <section className="shoulders-TrustBar" aria-label={trans.__('Sub-agent')}>
      <span className="shoulders-TrustBar-text">
        {trans.__('A sub-agent works here for another conversation.')}
      </span>
      <Button onClick={() => conversations.open(parent.session_id)}>
        {trans.__('Back to it')}
      </Button>
    </section>
  );
}
