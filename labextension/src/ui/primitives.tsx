/** Small components used by several views. */

import * as React from 'react';

import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import type { ErrorInfo } from '../wire/generated';
import { focused, isFocusFree } from './focus';
import type { IconName } from '../host/chatHost';
import { useTrans, useView } from './hooks';

/** Returns the focus to a button after it was disabled, unless the focus has moved. */
function useFocusAfterDisabling(
  disabled: boolean
): React.RefObject<HTMLButtonElement> {
  const button = React.useRef<HTMLButtonElement>(null);
  const had = React.useRef(false);
  React.useLayoutEffect(() => {
    const { current } = button;
    if (disabled) {
      had.current = focused() === current;
    } else if (had.current) {
      had.current = false;
      if (isFocusFree()) {
        current?.focus({ preventScroll: true });
      }
    }
  }, [disabled]);
  return button;
}

/** A button with an icon. */
export function IconButton(props: {
  icon: IconName;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  pressed?: boolean;
  className?: string;
  /** Hidden from the keyboard and screen readers, because keys do the same elsewhere. */
  pointerOnly?: boolean;
}): React.JSX.Element {
  const { Icon } = useView();
  const button = useFocusAfterDisabling(props.disabled ?? false);
  return (
    <button
      ref={button}
      type="button"
      className={`shoulders-IconButton ${props.className ?? ''}`}
      title={props.label}
      aria-label={props.label}
      aria-pressed={props.pressed}
      aria-hidden={props.pointerOnly}
      tabIndex={props.pointerOnly === true ? -1 : undefined}
      disabled={props.disabled ?? false}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
    </button>
  );
}

/** A button with text. */
export function Button(props: {
  children: React.ReactNode;
  onClick: () => void;
  kind?: 'primary' | 'plain';
  disabled?: boolean;
  className?: string;
  /** Accessible name, when the text alone is ambiguous. */
  label?: string;
  title?: string;
  /** Whether the element it opens is open. */
  expanded?: boolean;
}): React.JSX.Element {
  const button = useFocusAfterDisabling(props.disabled ?? false);
  return (
    <button
      ref={button}
      type="button"
      className={`shoulders-Button shoulders-mod-${props.kind ?? 'plain'} ${props.className ?? ''}`}
      aria-label={props.label}
      title={props.title}
      aria-expanded={props.expanded}
      disabled={props.disabled ?? false}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}

/** A word beside a name. */
export function Badge(props: {
  children: string;
  kind?: 'plain' | 'good' | 'warning' | 'bad';
  title?: string;
}): React.JSX.Element {
  return (
    <span
      className={`shoulders-Badge shoulders-mod-${props.kind ?? 'plain'}`}
      title={props.title}
    >
      {props.children}
    </span>
  );
}

/** An error and what to do about it. */
export function ErrorNote(props: {
  error: ErrorInfo;
  children?: React.ReactNode;
}): React.JSX.Element {
  const { Icon, trans } = useView();
  const { message, hint } = props.error;
  return (
    <div className="shoulders-Error" role="alert">
      <Icon name="error" />
      <div className="shoulders-Error-text">
        <div>{visible(serverText(trans, message))}</div>
        {hint !== null && (
          <div className="shoulders-Error-hint">
            <Hint text={hint} />
          </div>
        )}
        {Boolean(props.children) && (
          <div className="shoulders-Actions">{props.children}</div>
        )}
        {isOfProvider(props.error) && <ErrorDetails error={props.error} />}
      </div>
    </div>
  );
}

/** A hint of the server; text between backticks is code. */
export function Hint({ text }: { text: string }): React.JSX.Element {
  const trans = useTrans();
  return (
    <>
      {serverText(trans, text)
        .split(/`([^`\n]+)`/)
        .map((piece, index) =>
          index % 2 === 1 ? (
            <code key={index}>{visible(piece)}</code>
          ) : (
            visible(piece)
          )
        )}
    </>
  );
}

function isOfProvider({ provider, request_id }: ErrorInfo): boolean {
  return provider !== null || request_id !== null;
}

/** Details for a report to the provider, collapsed. */
function ErrorDetails({ error }: { error: ErrorInfo }): React.JSX.Element {
  const trans = useTrans();
  const facts: readonly (readonly [string, string | null])[] = [
    [trans.__('Provider'), error.provider],
    [trans.__('Model'), error.model],
    [trans.__('Code'), error.code],
    [trans.__('Request'), error.request_id]
  ];
  return (
    <Disclosure
      className="shoulders-Error-details"
      summary={trans.__('Details')}
    >
      {() => (
        <dl className="shoulders-Arguments">
          {facts.map(([name, value]) =>
            value === null ? null : (
              <React.Fragment key={name}>
                <dt>{name}</dt>
                <dd className="shoulders-Arguments-value">{visible(value)}</dd>
              </React.Fragment>
            )
          )}
        </dl>
      )}
    </Disclosure>
  );
}

/** A collapsible section; `children` is called only while it is open. */
export function Disclosure(props: {
  summary: React.ReactNode;
  className: string;
  label?: string;
  startsOpen?: boolean;
  children: () => React.ReactNode;
}): React.JSX.Element {
  const { Icon } = useView();
  const [open, setOpen] = React.useState(props.startsOpen ?? false);
  return (
    <div className={props.className}>
      <button
        type="button"
        className="shoulders-Disclosure"
        aria-expanded={open}
        aria-label={props.label}
        onClick={() => setOpen(!open)}
      >
        {props.summary}
        <span className="shoulders-Disclosure-caret">
          <Icon name={open ? 'caret-down' : 'caret-right'} />
        </span>
      </button>
      {open && props.children()}
    </div>
  );
}

/** Three dots while nothing has arrived yet. */
export function Dots(): React.JSX.Element {
  const trans = useTrans();
  return (
    <div
      className="shoulders-Dots"
      role="status"
      aria-label={trans.__('Waiting for the answer')}
    >
      <span />
      <span />
      <span />
    </div>
  );
}

/** A link, or plain text when the page cannot open the target. */
export function LinkOrText(props: {
  className: string;
  title: string;
  go: (() => void) | null;
  children: React.ReactNode;
}): React.JSX.Element {
  const { className, title, go, children } = props;
  return go === null ? (
    <span className={className} title={title}>
      {children}
    </span>
  ) : (
    <button
      type="button"
      className={`shoulders-Link ${className}`}
      title={title}
      onClick={go}
    >
      {children}
    </button>
  );
}
