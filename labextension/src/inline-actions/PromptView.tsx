/**
 * The prompt above a cell: the user writes an instruction, follows the progress, and accepts or discards the result.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IconName } from '../host/chatHost';
import { visible } from '../text/hiddenCharacters';
import type { InlineEdit, Ready, Stage } from './inlineEdit';
import {
  errorText,
  obstacleText,
  placeholderOf,
  readyText,
  titleOf,
  workingText
} from './promptMessages';

export interface IPromptProps {
  readonly edit: InlineEdit;
  readonly trans: TranslationBundle;
  readonly Icon: React.ComponentType<{ name: IconName }>;
  /** Show the conversation behind the edit. */
  readonly openConversation: (sessionId: string) => void;
  /** Announce a text to screen readers, politely. */
  readonly announce: (text: string) => void;
}

/** A prompt with its edit's stage. */
interface IStaged extends IPromptProps {
  readonly stage: Stage;
}

export function PromptView(props: IPromptProps): React.JSX.Element {
  const { edit, trans, Icon } = props;
  const { stage } = useEdit(edit);
  useAnnouncement(props, stage);
  return (
    <div
      className="shoulders-Prompt"
      role="group"
      aria-label={titleOf(edit, trans)}
      aria-busy={stage.kind === 'working'}
      onKeyDown={event => onKey(event, edit)}
    >
      <div className="shoulders-Prompt-line">
        <span className="shoulders-Prompt-spark">
          <Icon name="spark" />
        </span>
        <Instruction {...props} stage={stage} />
        <Actions {...props} stage={stage} />
      </div>
      <Remark {...props} stage={stage} />
      <NewCell edit={edit} trans={trans} />
    </div>
  );
}

/** Render again when the edit changes. */
function useEdit(edit: InlineEdit): { stage: Stage } {
  const [, draw] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    edit.changed.connect(draw);
    return () => {
      edit.changed.disconnect(draw);
    };
  }, [edit]);
  return { stage: edit.stage };
}

/** Announce the result without moving the focus. */
function useAnnouncement(
  { edit, trans, announce }: IPromptProps,
  stage: Stage
) {
  const before = React.useRef(stage.kind);
  React.useEffect(() => {
    if (before.current !== stage.kind && stage.kind === 'ready') {
      announce(readyText(edit, stage, trans));
    }
    before.current = stage.kind;
  });
}

/** Esc steps back from anywhere in the prompt; Ctrl+Enter accepts. */
function onKey(event: React.KeyboardEvent, edit: InlineEdit): void {
  if (event.nativeEvent.isComposing) {
    return; // Keys of an input method.
  }
  if (event.key === 'Escape') {
    event.stopPropagation();
    event.preventDefault();
    stepBack(edit);
  } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    edit.accept();
  }
}

function stepBack(edit: InlineEdit): void {
  if (edit.stage.kind === 'working' || edit.stage.kind === 'paused') {
    void edit.stop();
  } else {
    edit.discard();
  }
}

function Instruction(props: IStaged): React.JSX.Element {
  const { edit, stage, trans } = props;
  const field = React.useRef<HTMLTextAreaElement>(null);
  const [text, setText] = React.useState(edit.instruction);
  React.useLayoutEffect(() => {
    if (field.current !== null) {
      field.current.style.height = 'auto';
      field.current.style.height = `${field.current.scrollHeight}px`; // CSS limits the height.
    }
  }, [text]);
  return (
    <textarea
      ref={field}
      className="shoulders-Prompt-field"
      rows={1}
      value={text}
      readOnly={stage.kind === 'working' || stage.kind === 'paused'}
      placeholder={placeholderOf(edit, trans)}
      aria-label={titleOf(edit, trans)}
      onChange={event => {
        edit.type(event.target.value);
        setText(event.target.value);
      }}
      onKeyDown={event => {
        const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey;
        const isEnter = event.key === 'Enter' && !event.nativeEvent.isComposing;
        if (isEnter && isPlain) {
          event.preventDefault();
          enter(edit);
        }
      }}
    />
  );
}

/** Submit; if the answer to this very instruction is there, accept it. */
function enter(edit: InlineEdit): void {
  const isAnswered = edit.stage.kind === 'ready';
  if (isAnswered && edit.instruction.trim() === edit.submitted) {
    edit.accept();
  } else if (edit.stage.kind === 'asking' || isAnswered) {
    void edit.submit();
  }
}

/** The buttons to submit or stop, and to close. */
function Actions(props: IStaged): React.JSX.Element | null {
  const { edit, stage, trans, Icon } = props;
  const button = (
    icon: IconName,
    label: string,
    act: () => unknown,
    disabled = false
  ): React.JSX.Element => (
    <button
      type="button"
      className="shoulders-Prompt-picture"
      title={label}
      aria-label={label}
      disabled={disabled}
      onClick={() => void act()}
    >
      <Icon name={icon} />
    </button>
  );
  const isBarred = edit.obstacle !== null;
  return stage.kind === 'ready' ? null : (
    <span className="shoulders-Prompt-actions">
      {stage.kind === 'asking'
        ? button(
            'send',
            trans.__('Generate (Enter)'),
            () => edit.submit(),
            isBarred
          )
        : button('stop', trans.__('Stop (Esc)'), () => edit.stop())}
      {button('close', trans.__('Close (Esc)'), () => edit.discard())}
    </span>
  );
}

/** The line below the field: an obstacle, the progress, or the decision. */
function Remark(props: IStaged): React.JSX.Element | null {
  const { edit, stage, trans, openConversation } = props;
  const { obstacle, sessionId } = edit;
  const talk = sessionId !== null && (
    <TextButton onClick={() => openConversation(sessionId)}>
      {trans.__('Show in chat')}
    </TextButton>
  );
  if (obstacle !== null) {
    return <Line kind="error" text={obstacleText(edit, obstacle, trans)} />;
  }
  switch (stage.kind) {
    case 'asking':
      return stage.error === null ? null : (
        <Line kind="error" text={errorText(stage.error, trans)}>
          <TextButton onClick={() => void edit.submit()}>
            {trans.__('Try again')}
          </TextButton>
          {talk}
        </Line>
      );
    case 'working':
      return <Line kind="working" text={workingText(stage, trans)} />;
    case 'paused':
      return (
        <Line kind="error" text={trans.__('Waiting for your decision.')}>
          {talk}
        </Line>
      );
    case 'ready':
      return <Decision {...props} stage={stage} />;
  }
}

function Decision(props: IPromptProps & { stage: Ready }): React.JSX.Element {
  const { edit, stage, trans } = props;
  const { isConflict, flaw, extent } = stage;
  const accept = React.useRef<HTMLButtonElement>(null);
  useFocusWhenReady(accept);
  const isSame = extent.added === 0 && extent.removed === 0;
  return (
    <Line
      kind={isConflict || flaw ? 'error' : 'ready'}
      text={readyText(edit, stage, trans)}
    >
      {flaw === null && !isConflict && !isSame && (
        <TextButton
          ref={accept}
          className="shoulders-Prompt-accept"
          title={trans.__('Accept (Ctrl+Enter)')}
          onClick={() => edit.accept()}
        >
          {trans.__('Accept')}
        </TextButton>
      )}
      {isConflict && flaw === null && (
        <TextButton onClick={() => edit.accept(true)}>
          {trans.__('Replace my text')}
        </TextButton>
      )}
      <TextButton onClick={() => void edit.submit()}>
        {trans.__('Ask again')}
      </TextButton>
      <TextButton
        title={trans.__('Discard (Esc)')}
        onClick={() => edit.discard()}
      >
        {trans.__('Discard')}
      </TextButton>
    </Line>
  );
}

/** Focus the decision if the prompt had the focus; a user typing in the cell is not interrupted. */
function useFocusWhenReady(button: React.RefObject<HTMLButtonElement>): void {
  React.useEffect(() => {
    const prompt = button.current?.closest('.shoulders-Prompt');
    if (prompt?.contains(document.activeElement) === true) {
      button.current?.focus({ preventScroll: true });
    }
  }, [button]);
}

function Line(props: {
  kind: 'error' | 'working' | 'ready';
  text: string;
  children?: React.ReactNode;
}): React.JSX.Element {
  const { kind, text, children } = props;
  return (
    <div
      className={`shoulders-Prompt-remark shoulders-mod-${kind}`}
      role={kind === 'error' ? 'alert' : undefined}
    >
      <span className="shoulders-Prompt-text">{text}</span>
      {children}
    </div>
  );
}

const TextButton = React.forwardRef(function TextButton(
  props: {
    title?: string;
    className?: string;
    onClick: () => void;
    children: React.ReactNode;
  },
  button: React.ForwardedRef<HTMLButtonElement>
): React.JSX.Element {
  return (
    <button
      ref={button}
      type="button"
      className={props.className ?? 'shoulders-Prompt-button'}
      title={props.title}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
});

/** A preview of the new cell. */
function NewCell(props: {
  edit: InlineEdit;
  trans: TranslationBundle;
}): React.JSX.Element | null {
  const { newCell } = props.edit;
  return newCell === null || newCell.text === '' ? null : (
    <pre
      role="group"
      className="shoulders-Prompt-newCell"
      tabIndex={0}
      aria-label={
        newCell.isMarkdown
          ? props.trans.__('New Markdown cell, not inserted yet')
          : props.trans.__('New cell, not inserted yet')
      }
    >
      {visible(newCell.text)}
    </pre>
  );
}
