/** The line of a tool call: expands the details and links its cell and file. Used by `CallLine`. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  cellOf,
  canOpenTarget,
  pathOf
} from '../../model/view-models/callTargets';
import { targetOf, toolIcon } from '../../model/view-models/conversationItems';
import {
  memoryChangeOf,
  memoryTitle,
  type IMemoryLine
} from '../../model/view-models/memoryChanges';
import { callTitle } from '../../model/view-models/toolOwners';
import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { CallView } from '../../wire/generated';
import { LocationLink } from '../../ui/LocationLink';
import { useHost, useTrans } from '../../ui/hooks';
import { MemoryUndo } from './MemoryUndo';

interface IRow {
  call: CallView;
  note: string;
  open: boolean;
  onToggle: () => void;
}

export function CallRow(props: IRow): React.JSX.Element {
  const { Icon } = useHost();
  const { call, note, open, onToggle } = props;
  const trans = useTrans();
  const change = memoryChangeOf(call);
  const title = titleOf(call, change, trans);
  const go = useTargetOpener(call);
  const hasCell = go !== null && cellOf(call) !== null;
  const { before, cell, after } = splitTitle(visible(title), hasCell);
  return (
    // The keyboard uses the button; with the mouse the whole line expands.
    <div
      className={`shoulders-CallRow ${change === null ? '' : 'shoulders-mod-memory'}`}
      onClick={event => {
        if (!isControl(event.target)) {
          onToggle();
        }
      }}
    >
      <button
        type="button"
        className="shoulders-Disclosure"
        aria-expanded={open}
        aria-label={visible([title, targetOf(call), note].join(' ').trim())}
        onClick={onToggle}
      >
        <Icon name={toolIcon(call.tool)} />
        <span className="shoulders-Call-title">{before}</span>
      </button>
      {cell !== '' && go !== null && (
        <CallLink className="shoulders-Call-cell" call={call} onGo={go}>
          {cell}
        </CallLink>
      )}
      {after !== '' && <span className="shoulders-Call-title">{after}</span>}
      <Target call={call} onGo={go} isStop={cell === ''} />
      {call.state === 'running' && <span className="shoulders-Pulse" />}
      {change !== null && <MemoryUndo change={change} />}
      {note !== '' && <span className="shoulders-Call-note">{note}</span>}
      <span className="shoulders-Disclosure-caret">
        <Icon name={open ? 'caret-down' : 'caret-right'} />
      </span>
    </div>
  );
}

function titleOf(
  call: CallView,
  change: IMemoryLine | null,
  trans: TranslationBundle
): string {
  return change === null
    ? serverText(trans, callTitle(call))
    : memoryTitle(change, trans);
}

/** The target of a call unless its title names it; a link if it is a file. */
function Target(props: {
  call: CallView;
  onGo: (() => void) | null;
  isStop: boolean;
}): React.JSX.Element | null {
  const { call, onGo, isStop } = props;
  const name = targetOf(call);
  if (name === '' || callTitle(call).includes(name)) {
    return null;
  }
  const path = pathOf(call);
  const isFile = path === name || path?.endsWith(`/${name}`) === true;
  return (
    <span className="shoulders-Call-target">
      {onGo !== null && isFile ? (
        <CallLink call={call} onGo={onGo} isStop={isStop}>
          {visible(name)}
        </CallLink>
      ) : (
        visible(name)
      )}
    </span>
  );
}

function CallLink(props: {
  call: CallView;
  onGo: () => void;
  className?: string;
  isStop?: boolean;
  children: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { call, ...link } = props;
  return (
    <LocationLink
      {...link}
      title={trans.__('Show in %1', visible(pathOf(call) ?? ''))}
    />
  );
}

/** Opens the cell or file of a call; null if there is none. */
function useTargetOpener(call: CallView): (() => void) | null {
  const { openTarget } = useHost();
  const path = pathOf(call);
  return openTarget === null || path === null || !canOpenTarget(call)
    ? null
    : () => openTarget({ path, cellId: cellOf(call) });
}

/** The title before and after its "cell 4", in any language. */
function splitTitle(
  title: string,
  hasCell: boolean
): { before: string; cell: string; after: string } {
  const found = hasCell ? /\p{L}+\s\d+/u.exec(title) : null;
  if (found === null) {
    return { before: title, cell: '', after: '' };
  }
  const [cell] = found;
  const before = title.slice(0, found.index);
  return { before, cell, after: title.slice(before.length + cell.length) };
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button') !== null;
}

/** The title and target of a call, as the header of its card. */
export function CallHead(props: {
  call: CallView;
  id: string;
}): React.JSX.Element {
  const { Icon, trans } = useHost();
  const { tool, target } = props.call;
  const title = callTitle(props.call);
  return (
    <header className="shoulders-Card-head" id={props.id}>
      <Icon name={toolIcon(tool)} />
      <span className="shoulders-Call-title">
        {visible(serverText(trans, title))}
      </span>
      {target !== null && !title.includes(target) && (
        <span className="shoulders-Call-target">{visible(target)}</span>
      )}
    </header>
  );
}
