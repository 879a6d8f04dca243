/** The buttons of a proposal: apply, edit, dismiss, or choose a text; later keep or undo. Used by `ProposalCard`. */

import * as React from 'react';

import {
  editOfProposal,
  type IProposedText
} from '../../model/view-models/proposals';
import type { IReview } from '../../host/review';
import type {
  DecideProposal,
  PendingEdit,
  Proposal
} from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  focusComposer,
  useAction,
  useRestoreFocus,
  useHost,
  usePendingEdits,
  useTabContext,
  useTrans
} from '../../ui/hooks';
import { isFromRestore } from './ProposalTexts';
import { useDocumentPath, type IProposalEdit } from './useProposal';

/** Applies one of two conflicting texts. */
export function Choice(props: {
  proposal: Proposal;
  result: IProposedText;
}): React.JSX.Element {
  const trans = useTrans();
  const { proposal, result } = props;
  const { decide, error } = useDecide(proposal);
  const ref = useRestoreFocus<HTMLDivElement>();
  const { current: base, text } = result;
  return (
    <div className="shoulders-Proposal-decision" ref={ref}>
      <div className="shoulders-Actions">
        <Button onClick={() => decide({ decision: 'dismiss' })}>
          {trans.__('Keep mine')}
        </Button>
        <Button onClick={() => decide({ decision: 'apply', text, base })}>
          {isFromRestore(proposal)
            ? trans.__('Use the earlier text')
            : trans.__('Use the agent’s text')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

function useDecide(proposal: Proposal): {
  decide: (body: DecideProposal) => void;
  error: ReturnType<typeof useAction>['error'];
} {
  const { conversations } = useTabContext();
  const { error, runOnce } = useAction();
  const decide = (body: DecideProposal): void => {
    runOnce(() => conversations.decide(proposal.id, body));
  };
  return { decide, error };
}

/** Applies the proposal, with or without the user's edit, or dismisses it. */
export function Decision(props: {
  proposal: Proposal;
  edit: IProposalEdit;
}): React.JSX.Element {
  const trans = useTrans();
  const { proposal, edit } = props;
  const { text } = edit;
  const { decide, error } = useDecide(proposal);
  const canRun = useCanRun(proposal);
  const ref = useRestoreFocus<HTMLDivElement>();
  const apply = (runs: boolean): void =>
    decide({
      decision: 'apply',
      ...(text === null || text === proposal.new ? {} : { text }),
      ...(runs ? { run: true } : {})
    });
  return (
    <div className="shoulders-Proposal-decision" ref={ref}>
      {text !== null && <Edited text={text} edit={edit} />}
      <div className="shoulders-Actions">
        <Button kind="primary" onClick={() => apply(false)}>
          {trans.__('Apply')}
        </Button>
        {canRun && (
          <Button onClick={() => apply(true)}>
            {trans.__('Apply and run')}
          </Button>
        )}
        {text === null ? (
          <Button onClick={edit.start}>{trans.__('Edit…')}</Button>
        ) : (
          <Button onClick={edit.discard}>{trans.__('Undo edit')}</Button>
        )}
        <span className="shoulders-Actions-space" />
        <Button onClick={() => decide({ decision: 'dismiss' })}>
          {trans.__('Dismiss')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

/** Whether the cell can run: Markdown cells cannot, and the type is known only while the notebook is open. */
function useCanRun(proposal: Proposal): boolean {
  const { cellsOf } = useHost();
  const document = useDocumentPath(proposal);
  const { cell_id } = proposal;
  const cell = cellsOf(document).find(({ id }) => id === cell_id);
  return cell_id !== null && (cell === undefined || cell.type === 'code');
}

function Edited(props: {
  text: string;
  edit: IProposalEdit;
}): React.JSX.Element {
  const trans = useTrans();
  const { text, edit } = props;
  return (
    <textarea
      className="shoulders-Input shoulders-ToolResultForm-field"
      autoFocus={edit.takesFocus}
      spellCheck={false}
      rows={Math.min(16, text.split('\n').length + 1)}
      value={text}
      aria-label={trans.__('The text to apply')}
      onChange={event => edit.change(event.target.value)}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          event.stopPropagation();
          edit.discard();
          focusComposer();
        }
      }}
    />
  );
}

/** Keep or undo for an applied proposal while it is pending. */
export function Review({
  proposal
}: {
  proposal: Proposal;
}): React.JSX.Element | null {
  const { review } = useHost();
  const edit = editOfProposal(proposal, usePendingEdits());
  return review === null || edit === null ? null : (
    <KeepOrUndo review={review} edit={edit} />
  );
}

function KeepOrUndo(props: {
  review: IReview;
  edit: PendingEdit;
}): React.JSX.Element {
  const trans = useTrans();
  const { error, runOnce } = useAction();
  const ref = useRestoreFocus<HTMLDivElement>();
  const { review, edit } = props;
  const decide = (decision: 'keep' | 'undo'): void => {
    runOnce(() => review.decide([edit], decision));
  };
  return (
    <div className="shoulders-Proposal-decision" ref={ref}>
      <div className="shoulders-Actions">
        <Button onClick={() => decide('keep')}>{trans.__('Keep')}</Button>
        <Button onClick={() => decide('undo')}>{trans.__('Undo')}</Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}
