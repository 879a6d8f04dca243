/**
 * A list of conversations shown instead of one: a search field, rows, more on demand. Keys: arrows move from the field
 * through the rows, Esc returns to the conversation. Used by the history and the list of threads.
 */

import * as React from 'react';

import type { ErrorInfo } from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import { SESSION_BUTTON } from './SessionRow';
import { focusComposer, useTrans } from '../../ui/hooks';
import { useActions } from './usePanelActions';

/** Conversations read page by page. */
interface IPaged {
  readonly error: ErrorInfo | null;
  /** Whether the server has answered once. */
  readonly isRead: boolean;
  readonly hasMore: boolean;
  readonly loadMore: () => Promise<void>;
}

export function SessionList(props: {
  label: string;
  className?: string;
  store: IPaged;
  /** Filters of the list: a search field and selects. */
  filters: React.ReactNode;
  /** Text shown without rows. */
  none: string | null;
  children: React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const ref = React.useRef<HTMLElement>(null);
  const { label, className = '', store, filters, none, children } = props;
  return (
    <section
      ref={ref}
      className={`shoulders-History ${className}`}
      aria-label={label}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.defaultPrevented) {
          event.preventDefault();
          actions.showList(null);
          focusComposer();
        } else if (moveFocus(ref.current, event)) {
          event.preventDefault();
        }
      }}
    >
      <div className="shoulders-History-filters" role="search">
        {filters}
      </div>
      {store.error !== null && <ErrorNote error={store.error} />}
      {children}
      {store.isRead && none !== null && (
        <p className="shoulders-History-none" role="status">
          {none}
        </p>
      )}
      {store.hasMore && (
        <Button onClick={() => void store.loadMore()}>
          {trans.__('Show more')}
        </Button>
      )}
    </section>
  );
}

/** The search field. */
export function SearchField(props: {
  label: string;
  text: string;
  onText: (text: string) => void;
}): React.JSX.Element {
  const { label, text, onText } = props;
  return (
    <input
      className="shoulders-Input"
      type="search"
      // The list is opened to search.
      autoFocus
      value={text}
      placeholder={label}
      aria-label={label}
      onChange={event => onText(event.target.value)}
      onKeyDown={event => {
        if (event.key === 'Escape' && text !== '') {
          event.preventDefault(); // Esc clears the text first, then closes the list.
          onText('');
        }
      }}
    />
  );
}

/** Move the focus between the field and the rows; return whether the key was handled. */
function moveFocus(
  place: HTMLElement | null,
  { key, target }: React.KeyboardEvent
): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const stops = [
    ...(place?.querySelectorAll<HTMLElement>(
      `input[type=search], ${SESSION_BUTTON}`
    ) ?? [])
  ];
  const at = stops.findIndex(stop => stop === target);
  if (step === undefined || at < 0) {
    return false;
  }
  stops[at + step]?.focus();
  return true;
}
