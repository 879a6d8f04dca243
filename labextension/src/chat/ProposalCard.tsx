/** A change the agent proposes and the user decides on. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { documentOf, editOfProposal } from '../model/proposals';
import { legible, visible } from '../model/visible';
import type { IReview } from '../review/interface';
import type { DecideProposal, PendingEdit, Proposal } from '../wire/generated';
import { WordDiff } from './Diff';
import { nameOf } from './input/describe';
import { Button, Disclosure, ErrorNote, LinkOrText } from './parts';
import {
  focusField,
  useAction,
  useFocusKept,
  useHost,
  usePendingEdits,
  usePlace,
  useSignal,
  useTrans
} from './use';

export const ProposalCard = React.memo(function ProposalCard(props: {
  proposal: Proposal;
}): React.JSX.Element {
  const title = React.useId();
  const { proposal } = props;
  const { reason, state } = proposal;
  const edit = useEdit(proposal);
  return (
    <section
      className={`shoulders-Card shoulders-Proposal shoulders-mod-${state}`}
      aria-labelledby={title}
    >
      <Head proposal={proposal} id={title} />
      {reason !== '' && (
        <p className="shoulders-Card-remark">{legible(reason)}</p>
      )}
      <Outcome proposal={proposal} />
      <Change proposal={proposal} text={edit.text} />
      {state === 'proposed' ? (
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
  const { conversations, tab } = usePlace();
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
  const { conversations, tab } = usePlace();
  return useSignal(conversations.changed, () =>
    documentOf(proposal, conversations.anchor(tab))
  );
}

/** What to know of the text before a decision, and after one that came to nothing. */
function Outcome({
  proposal
}: {
  proposal: Proposal;
}): React.JSX.Element | null {
  const trans = useTrans();
  const standing = useStanding(proposal);
  const words =
    standing === null
      ? outcomeOf(proposal, trans)
      : standingOf(standing, proposal, trans);
  return words === null ? null : (
    <p className="shoulders-Card-remark">{words}</p>
  );
}

/** Whether the text of a change nobody has decided on moved on in a document that is open here; null: not that is known. */
function useStanding(proposal: Proposal): 'changed' | 'gone' | null {
  const { texts } = useHost();
  const document = useDocument(proposal);
  const { state, current, cell_id } = proposal;
  return useSignal(texts?.changed ?? null, () => {
    const now =
      state === 'proposed' ? texts?.textOf(document, cell_id) : undefined;
    if (now === undefined || now === null) {
      return now === null ? 'gone' : null;
    }
    return plain(now) === plain(current) ? null : 'changed';
  });
}

/** A text without what an editor keeps to itself: the mark at its beginning, and how its lines end. */
function plain(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
}

/** What would change; out of the way once it came to nothing. */
function Change(props: {
  proposal: Proposal;
  text: string | null;
}): React.JSX.Element {
  const trans = useTrans();
  const { proposal, text } = props;
  const diff = (
    <WordDiff before={proposal.current} after={text ?? proposal.new} />
  );
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

/** As it is, changed by the user before, or not at all. */
function Decision(props: {
  proposal: Proposal;
  edit: IEdit;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = usePlace();
  const { busy, error, run } = useAction();
  const { proposal, edit } = props;
  const { text } = edit;
  const canRun = useCanRun(proposal);
  const place = useFocusKept<HTMLDivElement>();
  const decide = (body: DecideProposal): void => {
    // A disabled button would lose the focus, so a second click is passed over instead.
    if (!busy) {
      run(() => conversations.decide(proposal.id, body));
    }
  };
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
          focusField();
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
  const place = useFocusKept<HTMLDivElement>();
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

function standingOf(
  standing: 'changed' | 'gone',
  { cell_id }: Proposal,
  trans: TranslationBundle
): string {
  switch (standing) {
    case 'changed':
      return cell_id === null
        ? trans.__(
            'The file was changed since this was proposed. What was changed in other lines is kept when it is applied; where both changed the same lines, nothing is written.'
          )
        : trans.__(
            'The cell was changed since this was proposed. What was changed in other lines is kept when it is applied; where both changed the same lines, nothing is written.'
          );
    case 'gone':
      return trans.__(
        'The cell is gone, so this cannot be applied unless it comes back.'
      );
  }
}

/** Whether the text does not have it, and will not. */
function isOver(state: Proposal['state']): boolean {
  return state !== 'proposed' && state !== 'applied' && state !== 'edited';
}

function outcomeOf(
  { state, current, old, cell_id }: Proposal,
  trans: TranslationBundle
): string | null {
  switch (state) {
    case 'proposed':
      return current === old
        ? null
        : trans.__(
            'The text changed since the agent read it. Shown is what would change in its present text.'
          );
    case 'conflict':
      return trans.__(
        'The same lines were changed meanwhile, so nothing was written. The new proposal below has the text as it was then.'
      );
    case 'stale':
      return cell_id === null
        ? trans.__('The file is gone, so nothing was written.')
        : trans.__('The cell is gone, so nothing was written.');
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
