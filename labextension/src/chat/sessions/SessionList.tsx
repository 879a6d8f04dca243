/**
 * A list of conversations in the place of one: a field to search in, rows, and more on demand. By keyboard: arrows lead
 * from the field through the rows, Esc back to the conversation. Used by the history and the list of threads.
 */

import * as React from 'react';

import type { ErrorInfo } from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import { SESSION_BUTTON } from './SessionRow';
import { focusComposer, useTrans } from '../../ui/hooks';
import { useActions } from './usePanelActions';

/** Conversations that are read page by page. */
interface IPaged {
  readonly error: ErrorInfo | null;
  /** Whether the server has answered once. */
  readonly isRead: boolean;
  readonly hasMore: boolean;
  readonly more: () => Promise<void>;
}

export function SessionList(props: {
  label: string;
  className?: string;
  store: IPaged;
  /** What narrows the list: a field to search in, and choices. */
  filters: React.ReactNode;
  /** Said when there is no row. */
  none: string | null;
  children: React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const place = React.useRef<HTMLElement>(null);
  const { label, className = '', store, filters, none, children } = props;
  return (
    <section
      ref={place}
      className={`shoulders-History ${className}`}
      aria-label={label}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.defaultPrevented) {
          event.preventDefault();
          actions.showList(null);
          focusComposer();
        } else if (moveFocus(place.current, event)) {
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
        <Button onClick={() => void store.more()}>
          {trans.__('Show more')}
        </Button>
      )}
    </section>
  );
}

/** Words to look for. */
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
      // The list is opened to look for something.
      autoFocus
      value={text}
      placeholder={label}
      aria-label={label}
      onChange={event => onText(event.target.value)}
      onKeyDown={event => {
        if (event.key === 'Escape' && text !== '') {
          event.preventDefault(); // First the words, then the list itself.
          onText('');
        }
      }}
    />
  );
}

/** Move the focus from the field into the rows, from row to row, and back; whether the key was for that. */
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
