/** The texts of a proposal: the difference, or both versions to choose from. Used by `ProposalCard`. */

import * as React from 'react';

import type { IProposedText } from '../../model/view-models/proposals';
import type { Proposal } from '../../wire/generated';
import { WordDiff } from '../../ui/viewers/Diff';
import { Disclosure } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';

/** The difference; collapsed once the proposal failed. */
export function ProposedChange(props: {
  proposal: Proposal;
  result: IProposedText;
}): React.JSX.Element {
  const trans = useTrans();
  const { proposal, result } = props;
  const diff = <WordDiff before={result.current} after={result.text} />;
  return isClosed(proposal.state) ? (
    <Disclosure
      className="shoulders-Proposal-past"
      summary={trans.__('What was proposed')}
    >
      {() => diff}
    </Disclosure>
  ) : (
    diff
  );
}

/** The user's change, and what the agent's text would change in it. */
export function BothTexts(props: {
  proposal: Proposal;
  result: IProposedText;
}): React.JSX.Element {
  const trans = useTrans();
  const { proposal, result } = props;
  return (
    <>
      <p className="shoulders-Card-remark">
        {trans.__('You changed the same lines. Choose which text to keep.')}
      </p>
      <figure className="shoulders-Proposal-side">
        <figcaption>{trans.__('Your change')}</figcaption>
        <WordDiff before={proposal.old} after={result.current} />
      </figure>
      <figure className="shoulders-Proposal-side">
        <figcaption>
          {isFromRestore(proposal)
            ? trans.__('With the earlier text')
            : trans.__('With the agent’s text')}
        </figcaption>
        <WordDiff before={result.current} after={result.text} />
      </figure>
    </>
  );
}

/** Whether the proposal is closed and the document does not have its text. */
function isClosed(state: Proposal['state']): boolean {
  return state !== 'proposed' && state !== 'applied' && state !== 'edited';
}

/** Whether the text comes from a restore rather than from the agent. */
export function isFromRestore({ turn_id }: Proposal): boolean {
  return turn_id === null;
}
