/** A change the agent proposes and the user decides on. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { proposedText } from '../../model/view-models/proposals';
import { legible, visible } from '../../text/hiddenCharacters';
import type { Proposal } from '../../wire/generated';
import { nameOf } from '../../ui/attachmentLabels';
import { LinkOrText } from '../../ui/primitives';
import { useHost, useTrans } from '../../ui/hooks';
import { Choice, Decision, Review } from './ProposalDecision';
import { BothTexts, Change } from './ProposalTexts';
import { useDocument, useEdit, useNow } from './useProposal';

/** The server's reason where the agent gave none (`tools/editing/three_way_merge.py`); a choice says it itself. */
const SAME_LINES = 'You and the agent changed the same lines.';

export const ProposalCard = React.memo(function ProposalCard(props: {
  proposal: Proposal;
}): React.JSX.Element {
  const title = React.useId();
  const { proposal } = props;
  const { reason, state } = proposal;
  const edit = useEdit(proposal);
  const now = useNow(proposal);
  const result = React.useMemo(
    () => proposedText(proposal, now ?? proposal.current, edit.text),
    [proposal, now, edit.text]
  );
  const chooses = state === 'proposed' && result.clash;
  return (
    <section
      className={`shoulders-Card shoulders-Proposal shoulders-mod-${state}`}
      aria-labelledby={title}
    >
      <Head proposal={proposal} id={title} />
      {reason !== '' && !(chooses && reason === SAME_LINES) && (
        <p className="shoulders-Card-remark">{legible(reason)}</p>
      )}
      <Outcome proposal={proposal} isGone={now === null} />
      {chooses ? (
        <BothTexts proposal={proposal} result={result} />
      ) : (
        <Change proposal={proposal} result={result} />
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

/** What the user has made of a proposed text. */
/**
 * Kept with the tab, as the edits of messages are, until the document has it or the user wants nothing of it: of one that
 * came to nothing it is shown still.
 */
function Head(props: { proposal: Proposal; id: string }): React.JSX.Element {
  const { Icon, cellsOf, openDocument } = useHost();
  const trans = useTrans();
  const { cell_id, state } = props.proposal;
  const document = useDocument(props.proposal);
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

/** What its document is called now. */
/** What to know of the text before a decision, and after one that came to nothing. */
function Outcome(props: {
  proposal: Proposal;
  isGone: boolean;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { proposal, isGone } = props;
  const words =
    isGone && proposal.state === 'proposed'
      ? trans.__('The cell was deleted. Restore it to apply this.')
      : outcomeOf(proposal, trans);
  return words === null ? null : (
    <p className="shoulders-Card-remark">{words}</p>
  );
}

/** The text of an undecided proposal in a document that is open here; null: its cell is gone; undefined: not known. */
/** A text without what an editor keeps to itself: the mark at its beginning, and how its lines end. */
/** What would change; out of the way once it came to nothing. */
/** What the user changed, and what the agent's text would change in that. */
/** The two texts to choose from; nothing is applied without one. */
/** Whether it is a text that a restore would bring back, and no change of the agent's. */
/** Decides on a proposal, once. */
/** As it is, changed by the user before, or not at all. */
/** Cells of text do not run; whether this is one is known while its notebook is open. */
/** The applied change, as long as it awaits keep or undo. */
/** Whether the text does not have it, and will not. */
function outcomeOf(
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
