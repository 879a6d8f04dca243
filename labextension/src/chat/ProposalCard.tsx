/** A change the agent proposes and the user decides on. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../model/visible';
import type { Proposal } from '../wire/generated';
import { Diff } from './Diff';
import { Button, ErrorNote } from './parts';
import { useAction, useHost, usePlace, useTrans } from './use';

export const ProposalCard = React.memo(function ProposalCard(props: {
  proposal: Proposal;
}): React.JSX.Element {
  const { Icon, openDocument } = useHost();
  const trans = useTrans();
  const title = React.useId();
  const { proposal } = props;
  const { document, cell_id, reason, current, old, state } = proposal;
  return (
    <section
      className={`shoulders-Card shoulders-Proposal shoulders-mod-${state}`}
      aria-labelledby={title}
    >
      <header className="shoulders-Card-head" id={title}>
        <Icon name="pencil" />
        <span className="shoulders-Call-title">
          {trans.__('Proposed change')}
        </span>
        <button
          type="button"
          className="shoulders-Link shoulders-Call-target"
          onClick={() => openDocument(document, cell_id)}
        >
          {visible(document)}
        </button>
        <span className="shoulders-Call-note">{stateName(state, trans)}</span>
      </header>
      {reason !== '' && (
        <p className="shoulders-Card-remark">{visible(reason)}</p>
      )}
      {current !== old && (
        <p className="shoulders-Card-remark">
          {trans.__(
            'The cell changed since the agent read it. Shown is what would change in its present text.'
          )}
        </p>
      )}
      <Diff before={current} after={proposal.new} />
      {state === 'proposed' && <Decision proposal={proposal} />}
    </section>
  );
});

function Decision({ proposal }: { proposal: Proposal }): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = usePlace();
  const { busy, error, run } = useAction();
  const decide = (decision: 'apply' | 'dismiss'): void =>
    run(() => conversations.decide(proposal.id, { decision }));
  return (
    <>
      <div className="shoulders-Actions">
        <Button kind="primary" disabled={busy} onClick={() => decide('apply')}>
          {trans.__('Apply')}
        </Button>
        <Button disabled={busy} onClick={() => decide('dismiss')}>
          {trans.__('Dismiss')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

function stateName(state: Proposal['state'], trans: TranslationBundle): string {
  switch (state) {
    case 'proposed':
      return '';
    case 'applied':
      return trans.__('applied');
    case 'edited':
      return trans.__('applied with changes');
    case 'conflict':
      return trans.__('conflict');
    case 'stale':
      return trans.__('out of date');
    case 'dismissed':
      return trans.__('dismissed');
    case 'undone':
      return trans.__('undone');
  }
}
