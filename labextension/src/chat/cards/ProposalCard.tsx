/** A change the agent proposes and the user decides on. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  documentOf,
  editOfProposal,
  proposedText,
  type IProposedText
} from '../../model/view-models/proposals';
import { legible, visible } from '../../text/hiddenCharacters';
import type { IReview } from '../../host/review';
import type {
  DecideProposal,
  PendingEdit,
  Proposal
} from '../../wire/generated';
import { WordDiff } from '../../ui/Diff';
import { nameOf } from '../../ui/attachmentLabels';
import { Button, Disclosure, ErrorNote, LinkOrText } from '../../ui/primitives';
import {
  focusComposer,
  useAction,
  useRestoreFocus,
  useHost,
  usePendingEdits,
  useTabContext,
  useSignal,
  useTrans
} from '../../ui/hooks';

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
interface IEdit {
  /** Null while they have changed nothing. */
  readonly text: string | null;
  /** Whether they have just asked for the field: one that another tab or a reload brings back takes no focus. */
  readonly isAsked: boolean;
  readonly begin: () => void;
  readonly change: (text: string) => void;
  readonly leave: () => void;
}

/**
 * Kept with the tab, as the edits of messages are, until the document has it or the user wants nothing of it: of one that
 * came to nothing it is shown still.
 */
function useEdit({ id, state, new: proposed }: Proposal): IEdit {
  const { conversations, tab } = useTabContext();
  const [text, setText] = React.useState(() => conversations.edit(tab, id));
  const [isAsked, setAsked] = React.useState(false);
  const change = (now: string | null): void => {
    setText(now);
    conversations.setEdit(tab, id, now);
  };
  const isDone =
    state !== 'proposed' && state !== 'conflict' && state !== 'stale';
  React.useEffect(() => {
    if (isDone && conversations.edit(tab, id) !== null) {
      conversations.setEdit(tab, id, null);
    }
  }, [conversations, tab, id, isDone]);
  return {
    text,
    isAsked,
    begin: () => {
      setAsked(true);
      change(proposed);
    },
    change,
    leave: () => change(null)
  };
}

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
function useDocument(proposal: Proposal): string {
  const { conversations, tab } = useTabContext();
  return useSignal(conversations.changed, () =>
    documentOf(proposal, conversations.anchor(tab))
  );
}

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
function useNow(proposal: Proposal): string | null | undefined {
  const { texts } = useHost();
  const document = useDocument(proposal);
  const { state, cell_id } = proposal;
  return useSignal(texts?.changed ?? null, () => {
    const now =
      state === 'proposed' ? texts?.textOf(document, cell_id) : undefined;
    return typeof now === 'string' ? plain(now) : now;
  });
}

/** A text without what an editor keeps to itself: the mark at its beginning, and how its lines end. */
function plain(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
}

/** What would change; out of the way once it came to nothing. */
function Change(props: {
  proposal: Proposal;
  result: IProposedText;
}): React.JSX.Element {
  const trans = useTrans();
  const { proposal, result } = props;
  const diff = <WordDiff before={result.now} after={result.text} />;
  return isOver(proposal.state) ? (
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

/** What the user changed, and what the agent's text would change in that. */
function BothTexts(props: {
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
        <WordDiff before={proposal.old} after={result.now} />
      </figure>
      <figure className="shoulders-Proposal-side">
        <figcaption>
          {isEarlier(proposal)
            ? trans.__('With the earlier text')
            : trans.__('With the agent’s text')}
        </figcaption>
        <WordDiff before={result.now} after={result.text} />
      </figure>
    </>
  );
}

/** The two texts to choose from; nothing is applied without one. */
function Choice(props: {
  proposal: Proposal;
  result: IProposedText;
}): React.JSX.Element {
  const trans = useTrans();
  const { proposal, result } = props;
  const { decide, error } = useDecide(proposal);
  const place = useRestoreFocus<HTMLDivElement>();
  const { now: base, text } = result;
  return (
    <div className="shoulders-Proposal-decision" ref={place}>
      <div className="shoulders-Actions">
        <Button onClick={() => decide({ decision: 'dismiss' })}>
          {trans.__('Keep mine')}
        </Button>
        <Button onClick={() => decide({ decision: 'apply', text, base })}>
          {isEarlier(proposal)
            ? trans.__('Use the earlier text')
            : trans.__('Use the agent’s text')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

/** Whether it is a text that a restore would bring back, and no change of the agent's. */
function isEarlier({ turn_id }: Proposal): boolean {
  return turn_id === null;
}

/** Decides on a proposal, once. */
function useDecide(proposal: Proposal): {
  decide: (body: DecideProposal) => void;
  error: ReturnType<typeof useAction>['error'];
} {
  const { conversations } = useTabContext();
  const { busy, error, run } = useAction();
  const decide = (body: DecideProposal): void => {
    // A disabled button would lose the focus, so a second click is passed over instead.
    if (!busy) {
      run(() => conversations.decide(proposal.id, body));
    }
  };
  return { decide, error };
}

/** As it is, changed by the user before, or not at all. */
function Decision(props: {
  proposal: Proposal;
  edit: IEdit;
}): React.JSX.Element {
  const trans = useTrans();
  const { proposal, edit } = props;
  const { text } = edit;
  const { decide, error } = useDecide(proposal);
  const canRun = useCanRun(proposal);
  const place = useRestoreFocus<HTMLDivElement>();
  const apply = (runs: boolean): void =>
    decide({
      decision: 'apply',
      ...(text === null || text === proposal.new ? {} : { text }),
      ...(runs ? { run: true } : {})
    });
  return (
    <div className="shoulders-Proposal-decision" ref={place}>
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
          <Button onClick={edit.begin}>{trans.__('Edit…')}</Button>
        ) : (
          <Button onClick={edit.leave}>{trans.__('Undo edit')}</Button>
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

/** Cells of text do not run; whether this is one is known while its notebook is open. */
function useCanRun(proposal: Proposal): boolean {
  const { cellsOf } = useHost();
  const document = useDocument(proposal);
  const { cell_id } = proposal;
  const cell = cellsOf(document).find(({ id }) => id === cell_id);
  return cell_id !== null && (cell === undefined || cell.type === 'code');
}

function Edited(props: { text: string; edit: IEdit }): React.JSX.Element {
  const trans = useTrans();
  const { text, edit } = props;
  return (
    <textarea
      className="shoulders-Input shoulders-Supply-field"
      autoFocus={edit.isAsked}
      spellCheck={false}
      rows={Math.min(16, text.split('\n').length + 1)}
      value={text}
      aria-label={trans.__('The text to apply')}
      onChange={event => edit.change(event.target.value)}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          event.stopPropagation();
          edit.leave();
          focusComposer();
        }
      }}
    />
  );
}

/** The applied change, as long as it awaits keep or undo. */
function Review({
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
  const { busy, error, run } = useAction();
  const place = useRestoreFocus<HTMLDivElement>();
  const { review, edit } = props;
  const decide = (decision: 'keep' | 'undo'): void => {
    if (!busy) {
      run(() => review.decide([edit], decision));
    }
  };
  return (
    <div className="shoulders-Proposal-decision" ref={place}>
      <div className="shoulders-Actions">
        <Button onClick={() => decide('keep')}>{trans.__('Keep')}</Button>
        <Button onClick={() => decide('undo')}>{trans.__('Undo')}</Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

/** Whether the text does not have it, and will not. */
function isOver(state: Proposal['state']): boolean {
  return state !== 'proposed' && state !== 'applied' && state !== 'edited';
}

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
