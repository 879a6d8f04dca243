/** The text field: grows up to ten lines, sends on Enter, shows suggestions above. */

import * as React from 'react';

import type { ISlashCommand } from './suggestions/slashCommands';
import type { Attachment } from '../../wire/generated';
import { focusNewest } from '../../ui/messageNavigation';
import { useTrans } from '../../ui/hooks';
import { optionId, Listbox } from './suggestions/Listbox';
import { useSuggestions } from './suggestions/useSuggestions';

export function MessageField(props: {
  text: string;
  placeholder: string;
  disabled: boolean;
  commands: readonly ISlashCommand[];
  onChange: (text: string) => void;
  onSend: (text: string) => void;
  onRun: (command: ISlashCommand, argument: string, rest: string) => void;
  /** Called with a mentioned attachment. */
  onName: (attachment: Attachment) => void;
  /** Returns whether the pasted data was attached. */
  onPaste: (data: DataTransfer) => boolean;
}): React.JSX.Element {
  const { text, onChange } = props;
  const list = React.useId();
  const field = React.useRef<HTMLTextAreaElement>(null);
  const put = useCaret(field, onChange);
  const suggestions = useSuggestions(props.commands, {
    name: (option, next, caret) => {
      props.onName(option.mention.attachment);
      put(next, caret);
    },
    run: props.onRun,
    startCommand: begun => put(begun, begun.length)
  });
  const { shown } = suggestions;
  useGrowth(field, text);
  return (
    <>
      {shown !== null && (
        <div className="shoulders-Popover">
          <Listbox
            id={list}
            label={shown.label}
            options={shown.options}
            active={shown.active}
            columns={shown.token.trigger === '/'}
            onPick={option => suggestions.pick(text, option)}
            onActive={suggestions.setActive}
          />
        </div>
      )}
      <ResultCount count={shown?.options.length ?? 0} />
      <textarea
        ref={field}
        className="shoulders-Composer-field"
        rows={1}
        value={text}
        placeholder={props.placeholder}
        aria-label={props.placeholder}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={shown === null ? undefined : list}
        aria-activedescendant={
          shown === null ? undefined : optionId(list, shown.active)
        }
        disabled={props.disabled}
        onChange={({ target }) => {
          onChange(target.value);
          suggestions.update(target.value, target.selectionStart);
        }}
        onBlur={suggestions.close}
        onPaste={event => {
          if (props.onPaste(event.clipboardData)) {
            event.preventDefault();
          }
        }}
        onKeyDown={event => {
          const plain = !event.shiftKey && !event.nativeEvent.isComposing;
          if (suggestions.onKey(event) || !plain) {
            return;
          }
          const panel = event.currentTarget.closest('.shoulders-Chat');
          if (event.key === 'Enter') {
            event.preventDefault();
            suggestions.close();
            props.onSend(event.currentTarget.value);
          } else if (event.key === 'PageUp' && focusNewest(panel)) {
            event.preventDefault();
          }
        }}
      />
    </>
  );
}

/** Keeps the field as high as its text at any width. */
function useGrowth(
  field: React.RefObject<HTMLTextAreaElement>,
  text: string
): void {
  React.useLayoutEffect(() => fit(field.current), [field, text]);
  React.useEffect(() => {
    let width = 0;
    const watch = new ResizeObserver(([entry]) => {
      const now = entry?.contentRect.width ?? 0;
      if (now !== width) {
        width = now;
        fit(field.current);
      }
    });
    if (field.current !== null) {
      watch.observe(field.current);
    }
    return () => watch.disconnect();
  }, [field]);
}

function fit(element: HTMLTextAreaElement | null): void {
  if (element !== null) {
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`; // CSS limits it to ten lines.
  }
}

/** Tells screen readers how long the list is. */
function ResultCount({ count }: { count: number }): React.JSX.Element {
  const trans = useTrans();
  return (
    <span className="shoulders-Unseen" role="status">
      {count > 0 &&
        trans._n('%1 match', '%1 matches; choose with the arrow keys', count)}
    </span>
  );
}

/** Sets a text and the caret position. */
function useCaret(
  field: React.RefObject<HTMLTextAreaElement>,
  write: (text: string) => void
): (text: string, caret: number) => void {
  const wanted = React.useRef<number | null>(null);
  React.useLayoutEffect(() => {
    const { current: caret } = wanted;
    if (caret !== null) {
      wanted.current = null;
      field.current?.setSelectionRange(caret, caret);
    }
  });
  return (text, caret) => {
    wanted.current = caret;
    write(text);
  };
}
