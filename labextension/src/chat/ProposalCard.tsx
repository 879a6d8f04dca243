/** A change the agent proposes and the user decides on. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../model/visible';
import type { DecideProposal, Proposal } from '../wire/generated';
import { Diff } from './Diff';
import { Button, ErrorNote } from './parts';
import {
  focusField,
  useAction,
  useFocusKept,
  useHost,
  usePlace,
  useTrans
} from './use';

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

/** As it is, changed by the user before, or not at all. */
function Decision({ proposal }: { proposal: Proposal }): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = usePlace();
  const { busy, error, run } = useAction();
  const [text, setText] = React.useState<string | null>(null);
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
      {text !== null && (
        <Edited text={text} onChange={setText} onBack={() => setText(null)} />
      )}
      <div className="shoulders-Actions">
        <Button kind="primary" onClick={() => apply(false)}>
          {trans.__('Apply')}
        </Button>
        {proposal.cell_id !== null && (
          <Button onClick={() => apply(true)}>
            {trans.__('Apply and run')}
          </Button>
        )}
        {text === null && (
          <Button onClick={() => setText(proposal.new)}>
            {trans.__('Change…')}
          </Button>
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

function Edited(props: {
  text: string;
  onChange: (text: string) => void;
  onBack: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <textarea
      className="shoulders-Input shoulders-Supply-field"
      // The user has just asked for this field.
      autoFocus
      spellCheck={false}
      rows={Math.min(16, props.text.split('\n').length + 1)}
      value={props.text}
      aria-label={trans.__('The text to apply')}
      onChange={event => props.onChange(event.target.value)}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          event.stopPropagation();
          props.onBack();
          focusField();
        }
      }}
    />
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
