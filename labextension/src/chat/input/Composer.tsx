/** The input: the message being written with its attachments and context, mode and model. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  asksQuestion,
  isRunning,
  pendingInputOf
} from '../../model/view-models/conversationItems';
import type { Conversation } from '../../wire/generated';
import { AgentOptions } from '../agents/AgentOptions';
import { AttachmentChips, PendingChips } from './AttachmentChips';
import { MessageField } from './MessageField';
import { SkillsSheet, ToolsSheet } from './sheets/ListSheets';
import { ModelPicker } from './ModelPicker';
import { modelName } from '../../ui/modelLabels';
import { ModePicker } from './ModePicker';
import { MoreMenu } from './MoreMenu';
import { PromptSheet } from './sheets/PromptSheet';
import { RequestSheet } from './sheets/RequestSheet';
import { ContextChips } from './ContextChips';
import { UsageMeter } from './UsageMeter';
import { useDrop } from './useAttachments';
import { promptName, useInsertPrompt } from './usePrompts';
import { useComposer, type IComposer } from './useComposer';
import { Button, ErrorNote, IconButton } from '../../ui/primitives';
import { focusComposer, useTabContext, useTrans } from '../../ui/hooks';

export function Composer(props: {
  view: Conversation | null;
  /** Whether the conversation is read-only. */
  closed: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  const { view, closed } = props;
  const ref = React.useRef<HTMLDivElement>(null);
  const composer = useComposer(view, closed);
  const { draft, attachments, error } = composer;
  const over = useDrop(ref, attachments, closed);
  return (
    <>
      <OpenSheet view={view} composer={composer} />
      {error !== null && <ErrorNote error={error} />}
      <div
        className={`shoulders-Composer ${over ? 'shoulders-mod-over' : ''}`}
        ref={ref}
        onKeyDown={event => {
          const isFree =
            !event.defaultPrevented && !event.nativeEvent.isComposing;
          if (event.key === 'Escape' && composer.isWaiting && isFree) {
            event.preventDefault(); // Keeps Escape from stopping the agent.
            composer.cancelSend();
          }
        }}
      >
        <Chips composer={composer} />
        <UnseenImages composer={composer} />
        <WaitsForAttachments composer={composer} />
        <MessageField
          text={draft.text}
          placeholder={placeholder(view, composer, closed, trans)}
          disabled={closed}
          commands={composer.commands}
          onChange={draft.set}
          onSend={composer.send}
          onRun={composer.run}
          onName={attachments.add}
          onPaste={attachments.addPasted}
        />
        <Bar view={view} closed={closed} composer={composer} place={ref} />
        {over && (
          <div className="shoulders-Composer-drop">
            {trans.__('Drop to attach')}
          </div>
        )}
      </div>
    </>
  );
}

/** The sheet open above the input. */
function OpenSheet(props: {
  view: Conversation | null;
  composer: IComposer;
}): React.JSX.Element | null {
  const { sheet, setSheet, message, draft, prompt, closePrompt } =
    props.composer;
  const insert = useInsertPrompt();
  const close = (): void => setSheet(null);
  if (prompt !== null) {
    return (
      <PromptSheet
        key={promptName(prompt)}
        prompt={prompt}
        insert={values => insert(prompt, values)}
        onClose={closePrompt}
      />
    );
  }
  switch (sheet) {
    case null:
      return null;
    case 'request':
      return (
        <RequestSheet
          view={props.view}
          message={message(draft.text)}
          onClose={close}
        />
      );
    case 'tools':
      return <ToolsSheet onClose={close} />;
    case 'skills':
      return <SkillsSheet onClose={close} />;
  }
}

/** Attachments and context of the message. */
function Chips({ composer }: { composer: IComposer }): React.JSX.Element {
  const trans = useTrans();
  const {
    attachments,
    editorContext,
    removedContext,
    removeContext,
    restoreContext,
    isThread
  } = composer;
  return (
    <div
      className="shoulders-Chips"
      role="group"
      aria-label={trans.__('Context')}
      aria-busy={attachments.pending.length > 0}
    >
      <AttachmentChips
        attachments={attachments.all}
        onRemove={attachments.remove}
      />
      <PendingChips
        coming={attachments.pending}
        onCancel={attachments.cancel}
      />
      {!isThread && (
        <ContextChips
          editorContext={editorContext}
          removed={removedContext}
          onRemove={removeContext}
          onRestore={restoreContext}
        />
      )}
    </div>
  );
}

/** Warns that the chosen model cannot see the attached images. */
function UnseenImages(props: { composer: IComposer }): React.JSX.Element {
  const trans = useTrans();
  const { modelWithoutImages, setModels } = props.composer;
  return (
    <div className="shoulders-Composer-unseen">
      <span role="status">
        {modelWithoutImages !== null &&
          trans.__('%1 cannot see images.', modelName(modelWithoutImages))}
      </span>
      {modelWithoutImages !== null && (
        <Button onClick={() => setModels(true)}>
          {trans.__('Choose another model')}
        </Button>
      )}
    </div>
  );
}

/** Says that the message is waiting for attachments; it can be cancelled. */
function WaitsForAttachments(props: {
  composer: IComposer;
}): React.JSX.Element {
  const trans = useTrans();
  const { isWaiting, cancelSend } = props.composer;
  return (
    <div className="shoulders-Composer-waiting">
      <span role="status">
        {isWaiting && trans.__('Will be sent once everything is attached.')}
      </span>
      {isWaiting && (
        <IconButton
          icon="close"
          label={trans.__('Cancel sending (Esc)')}
          onClick={() => {
            cancelSend();
            focusComposer();
          }}
        />
      )}
    </div>
  );
}

/** Mode, model, usage, and the send button. */
function Bar(props: {
  view: Conversation | null;
  closed: boolean;
  composer: IComposer;
  place: React.RefObject<HTMLElement>;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { view, closed, composer, place } = props;
  return (
    <div className="shoulders-Composer-bar">
      <MoreMenu
        onFiles={composer.attachments.addFiles}
        onTrigger={sign => insertTrigger(place.current, sign)}
        onPreview={() => composer.setSheet('request')}
        onInstructions={composer.openInstructions}
      />
      <ModePicker />
      <ModelPicker open={composer.models} setOpen={composer.setModels} />
      <AgentOptions view={view} />
      <span className="shoulders-Actions-space" />
      {view !== null && <UsageMeter view={view} />}
      <IconButton
        className="shoulders-Composer-send"
        icon="send"
        label={trans.__('Send (Enter)')}
        disabled={closed || !composer.canSend}
        // Sends the current text, because a busy page renders late.
        onClick={() => composer.send(conversations.draft(tab))}
      />
    </div>
  );
}

/** Insert a character as if typed, so that the list opens: `/` at the start, `@` at the end. */
function insertTrigger(place: HTMLElement | null, sign: '@' | '/'): void {
  const field = place?.querySelector('textarea');
  if (field) {
    const { value } = field;
    const at = sign === '/' ? 0 : value.length;
    field.focus();
    const gap = sign === '@' && /\S$/.test(value) ? ' ' : '';
    field.setRangeText(gap + sign, at, at, 'end');
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

/** Placeholder that says what a message would do. */
function placeholder(
  view: Conversation | null,
  { isThread }: IComposer,
  closed: boolean,
  trans: TranslationBundle
): string {
  if (closed) {
    return trans.__('This conversation is read-only');
  }
  if (view !== null && asksQuestion(view)) {
    return trans.__('Answer…');
  }
  if (view !== null && pendingInputOf(view).pause !== null) {
    return trans.__('Ask something else instead…');
  }
  if (view !== null && isRunning(view)) {
    return trans.__('Add something for the next step…');
  }
  return isThread
    ? trans.__('Ask about this…')
    : trans.__('Ask about your notebook…');
}
