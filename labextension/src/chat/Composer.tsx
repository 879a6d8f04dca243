/** The input: grows with its text, keeps its draft, sends on Enter. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { formatMoney, formatTokens } from '../model/format';
import { asksQuestion, isRunning, waitsOf } from '../model/present';
import type { Conversation } from '../wire/generated';
import { ContextChips, contextOf, type Piece } from './ContextChips';
import { IconButton } from './parts';
import { ModelPicker, ModePicker } from './Pickers';
import { usePlace, useSituation, useTrans, useWaits } from './use';

/** Fullness of the context that is worth a warning. */
const NEARLY_FULL = 0.8;

export function Composer(props: {
  view: Conversation | null;
  /** Nothing can be added: the conversation can only be read. */
  closed: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const situation = useSituation();
  const [left, setLeft] = React.useState<ReadonlySet<Piece>>(new Set());
  const draft = useDraft();
  // What was typed, not what was drawn last: a busy page draws late.
  const send = (typed: string): void => {
    const text = typed.trim();
    if (text !== '' && !props.closed) {
      draft.set('');
      setLeft(new Set());
      const context = contextOf(situation, left);
      void conversations.send(tab, { text, context });
    }
  };
  return (
    <div className="shoulders-Composer">
      <ContextChips
        situation={situation}
        left={left}
        onLeave={piece => setLeft(new Set([...left, piece]))}
      />
      <TextField
        text={draft.text}
        placeholder={placeholder(props.view, props.closed, trans)}
        disabled={props.closed}
        onChange={draft.set}
        onSend={send}
      />
      <div className="shoulders-Composer-bar">
        <ModePicker />
        <ModelPicker />
        <span className="shoulders-Actions-space" />
        {props.view !== null && <Totals view={props.view} />}
        <IconButton
          className="shoulders-Composer-send"
          icon="send"
          label={trans.__('Send (Enter)')}
          disabled={props.closed || draft.text.trim() === ''}
          onClick={() => send(conversations.draft(tab))}
        />
      </div>
    </div>
  );
}

/** What a message would be now. */
function placeholder(
  view: Conversation | null,
  closed: boolean,
  trans: TranslationBundle
): string {
  if (closed) {
    return trans.__('This conversation can only be read');
  }
  if (view !== null && asksQuestion(view)) {
    return trans.__('Answer…');
  }
  if (view !== null && waitsOf(view).pause !== null) {
    return trans.__('Ask something else instead…');
  }
  return view !== null && isRunning(view)
    ? trans.__('Add something for the next step…')
    : trans.__('Ask about your notebook…');
}

/** The draft of this tab; an outside change (a chip, a command) shows too. */
function useDraft(): { text: string; set: (text: string) => void } {
  const { conversations, tab } = usePlace();
  const [text, setText] = React.useState(() => conversations.draft(tab));
  const set = (next: string): void => {
    setText(next);
    conversations.setDraft(tab, next);
  };
  React.useEffect(() => {
    const read = (): void => setText(conversations.draft(tab));
    conversations.changed.connect(read);
    return () => {
      conversations.changed.disconnect(read);
    };
  }, [conversations, tab]);
  return { text, set };
}

function TextField(props: {
  text: string;
  placeholder: string;
  disabled: boolean;
  onChange: (text: string) => void;
  onSend: (text: string) => void;
}): React.JSX.Element {
  const field = React.useRef<HTMLTextAreaElement>(null);
  React.useLayoutEffect(() => {
    const element = field.current;
    if (element !== null) {
      element.style.height = 'auto';
      element.style.height = `${element.scrollHeight}px`; // CSS limits it to ten lines.
    }
  }, [props.text]);
  return (
    <textarea
      ref={field}
      className="shoulders-Composer-field"
      rows={1}
      value={props.text}
      placeholder={props.placeholder}
      aria-label={props.placeholder}
      disabled={props.disabled}
      onChange={event => props.onChange(event.target.value)}
      onKeyDown={event => {
        const plain = !event.shiftKey && !event.nativeEvent.isComposing;
        if (event.key === 'Enter' && plain) {
          event.preventDefault();
          props.onSend(event.currentTarget.value);
        }
      }}
    />
  );
}

/** How full the context is and what the conversation cost. */
function Totals({ view }: { view: Conversation }): React.JSX.Element | null {
  const trans = useTrans();
  const { editBudget } = useWaits();
  const { context_tokens, context_window, usage } = view;
  if (context_tokens === null) {
    return null;
  }
  const full =
    context_window !== null && context_tokens > NEARLY_FULL * context_window;
  const { cost_micro_usd: cost } = usage;
  const window = context_window === null ? '?' : formatTokens(context_window);
  return (
    <button
      type="button"
      className={`shoulders-Totals ${full ? 'shoulders-mod-full' : ''}`}
      title={trans.__(
        'Context: %1 of %2 tokens. Cost of this conversation: %3. Opens the budget.',
        formatTokens(context_tokens),
        window,
        cost === null ? trans.__('unknown') : formatMoney(cost)
      )}
      onClick={editBudget}
    >
      {formatTokens(context_tokens)}
      {cost !== null && cost > 0 && (
        <span className="shoulders-Totals-cost"> · {formatMoney(cost)}</span>
      )}
    </button>
  );
}
