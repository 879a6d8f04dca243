/** A change that the agent proposes and the user decides on. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { proposedText } from '../../model/view-models/proposals';
import { legible, visible } from '../../text/hiddenCharacters';
import type { Proposal } from '../../wire/generated';
import { nameOf } from '../../ui/attachmentLabels';
import { LinkOrText } from '../../ui/primitives';
import { useHost, useTrans } from '../../ui/hooks';
import { Choice, Decision, Review } from './ProposalDecision';
import { BothTexts, ProposedChange } from './ProposalTexts';
import {
  useDocumentPath,
  useProposalEdit,
  useCurrentText
} from './useProposal';

/** The server's default reason (`tools/editing/three_way_merge.py`); the choice card states it itself. */
const SAME_LINES = 'You and the agent changed the same lines.';

export const ProposalCard = React.memo(function ProposalCard(props: {
  proposal: Proposal;
}): React.JSX.Element {
  const title = React.useId();
  const { proposal } = props;
  const { reason, state } = proposal;
  const edit = useProposalEdit(proposal);
  const now = useCurrentText(proposal);
  const result = React.useMemo(
    () => proposedText(proposal, now ?? proposal.current, edit.text),
    [proposal, now, edit.text]
  );
  const chooses = state === 'proposed' && result.hasConflict;
  return (
    <section
      className={`shoulders-Card shoulders-Proposal shoulders-mod-${state}`}
      aria-labelledby={title}
    >
      <Head proposal={proposal} id={title} />
      {reason !== '' && !(chooses && reason === SAME_LINES) && (
        <p className="shoulders-Card-remark">{legible(reason)}</p>
      )}
      <ProposalNote proposal={proposal} isCellDeleted={now === null} />
      {chooses ? (
        <BothTexts proposal={proposal} result={result} />
      ) : (
        <ProposedChange proposal={proposal} result={result} />
      )}
      {chooses ? (
        <Choice proposal={proposal} result={result} />
      ) : state === 'proposed' ? (
        <Decision proposal={proposal} edit={edit} />
      ) : (
        <Review proposal={proposal} />
      )}
    </section>
  );
});

function Head(props: { proposal: Proposal; id: string }): React.JSX.Element {
  const { Icon, cellsOf, openDocument } = useHost();
  const trans = useTrans();
  const { cell_id, state } = props.proposal;
  const document = useDocumentPath(props.proposal);
  const name = visible(nameOf(document));
  const cell = cellsOf(document).find(({ id }) => id === cell_id);
  return (
    <header className="shoulders-Card-head" id={props.id}>
      <Icon name="pencil" />
      <span className="shoulders-Call-title">
        {trans.__('Proposed change')}
      </span>
      <LinkOrText
        className="shoulders-Call-target"
        title={visible(document)}
        go={
          openDocument === null ? null : () => openDocument(document, cell_id)
        }
      >
        {cell === undefined
          ? name
          : trans.__('Cell %1 · %2', cell.number, name)}
      </LinkOrText>
      {state !== 'proposed' && (
        <span className={`shoulders-Proposal-state shoulders-mod-${state}`}>
          {stateName(state, trans)}
        </span>
      )}
    </header>
  );
}

/** What to know before a decision, or why the proposal failed. */
function ProposalNote(props: {
  proposal: Proposal;
  isCellDeleted: boolean;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { proposal, isCellDeleted } = props;
  const words =
    isCellDeleted && proposal.state === 'proposed'
      ? trans.__('The cell was deleted. Restore it to apply this.')
      : failureNote(proposal, trans);
  return words === null ? null : (
    <p className="shoulders-Card-remark">{words}</p>
  );
}

function failureNote(
  { state, cell_id }: Proposal,
  trans: TranslationBundle
): string | null {
  switch (state) {
    case 'conflict':
      return trans.__(
        'You changed the same lines, so nothing was written. Choose in the new proposal below.'
      );
    case 'stale':
      return cell_id === null
        ? trans.__('The file is gone, so nothing was written.')
        : trans.__('The cell is gone, so nothing was written.');
    case 'proposed':
    case 'applied':
    case 'edited':
    case 'dismissed':
    case 'undone':
      return null;
  }
}

function stateName(
  state: Exclude<Proposal['state'], 'proposed'>,
  trans: TranslationBundle
): string {
  switch (state) {
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
