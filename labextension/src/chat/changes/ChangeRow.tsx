/** A cell or file in the change list: name, link, difference, keep and undo. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  linesOf,
  sizeOf,
  type IChangeRow
} from '../../model/view-models/changeRows';
import { visible } from '../../text/hiddenCharacters';
import type { PendingEdit } from '../../wire/generated';
import { DiffLines } from '../../ui/viewers/Diff';
import { focused } from '../../ui/focus';
import type { IconName } from '../../host/chatHost';
import { Button, ErrorNote, LinkOrText } from '../../ui/primitives';
import { useAction, useHost, useTrans } from '../../ui/hooks';

interface IProps {
  row: IChangeRow;
  /** Called when the focused buttons go away. */
  onFocusLost: () => void;
}

const ICONS: Record<IChangeRow['kind'], IconName> = {
  made: 'file-add',
  edited: 'pencil',
  deleted: 'delete',
  moved: 'pencil',
  cleared: 'pencil'
};

export const ChangeRow = React.memo(function ChangeRow({
  row,
  onFocusLost
}: IProps): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const [open, setOpen] = React.useState(false);
  const { kind, status, edit } = row;
  const lost = status === 'lost';
  const ghost = kind === 'deleted' && edit !== null;
  return (
    <li
      className={`shoulders-ChangeRow shoulders-mod-${status} ${ghost ? 'shoulders-mod-ghost' : ''}`}
    >
      <div className="shoulders-ChangeRow-line">
        <Icon name={lost ? 'error' : ICONS[kind]} />
        <Name row={row} />
        {edit !== null && !lost && (
          <Size edit={edit} open={open} onToggle={() => setOpen(!open)} />
        )}
        {edit === null ? (
          <span className="shoulders-ChangeRow-standing">
            {statusName(row, trans)}
          </span>
        ) : (
          <Decision row={row} edit={edit} onFocusLost={onFocusLost} />
        )}
      </div>
      {edit !== null && <Remarks row={row} edit={edit} />}
      {edit !== null && open && <Text edit={edit} />}
    </li>
  );
});

/** The changed cell or file, as a link. */
function Name({ row }: { row: IChangeRow }): React.JSX.Element {
  const trans = useTrans();
  const { change, kind, edit } = row;
  const { cell_id, title, origin } = change;
  if (cell_id === null) {
    return (
      <span className="shoulders-ChangeRow-name">
        <FileName path={change.document} row={row} />
        {origin !== null && (
          <span className="shoulders-ChangeRow-title">
            {trans.__('formerly %1', visible(origin))}
          </span>
        )}
      </span>
    );
  }
  const text = visible(title);
  return (
    <span className="shoulders-ChangeRow-name">
      <CellName row={row} />
      {text !== '' && (
        <code className="shoulders-ChangeRow-title" title={text}>
          {kind === 'deleted' && edit !== null ? <del>{text}</del> : text}
        </code>
      )}
    </span>
  );
}

function CellName({ row }: { row: IChangeRow }): React.JSX.Element {
  const trans = useTrans();
  const goTo = useJump(row);
  const name = cellName(row, trans);
  return goTo === null ? (
    <span className="shoulders-ChangeRow-what">{name}</span>
  ) : (
    <button
      type="button"
      className="shoulders-Link shoulders-ChangeRow-what"
      title={trans.__('Go to change')}
      onClick={goTo}
    >
      {name}
    </button>
  );
}

/** A file name that opens the file if it exists. */
export function FileName(props: {
  path: string;
  row?: IChangeRow;
}): React.JSX.Element {
  const { Icon, openDocument } = useHost();
  const { path, row } = props;
  const name = path.split('/').at(-1) ?? path;
  const gone = row !== undefined && isMissing(row);
  return (
    <>
      {path.endsWith('.ipynb') && <Icon name="notebook" />}
      {gone ? (
        <del className="shoulders-ChangeRow-what" title={visible(path)}>
          {visible(name)}
        </del>
      ) : (
        <LinkOrText
          className="shoulders-ChangeRow-what"
          title={visible(path)}
          go={openDocument === null ? null : () => openDocument(path)}
        >
          {visible(name)}
        </LinkOrText>
      )}
    </>
  );
}

/** Whether there is nothing to open: it was deleted, or created and undone. */
function isMissing({ kind, status }: IChangeRow): boolean {
  return kind === 'deleted'
    ? status !== 'undone'
    : kind === 'made' && status === 'undone';
}

/** Opens the pending change of a cell, else the cell; null if it is gone. */
function useJump(row: IChangeRow): (() => void) | null {
  const { review, openDocument } = useHost();
  const { change, edit } = row;
  if (openDocument === null) {
    return null;
  }
  if (edit !== null && review !== null && row.status === 'pending') {
    return () => void review.reveal(edit);
  }
  return isMissing(row)
    ? null
    : () => openDocument(change.document, change.cell_id);
}

/** Size of the change; a click shows it. */
function Size(props: {
  edit: PendingEdit;
  open: boolean;
  onToggle: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { edit, open } = props;
  const { added, removed } = React.useMemo(() => sizeOf(edit), [edit]);
  return (
    <button
      type="button"
      className="shoulders-ChangeRow-size"
      aria-expanded={open}
      aria-label={trans.__(
        'What changed: %1 lines added, %2 removed',
        added,
        removed
      )}
      title={trans.__('Show what changed')}
      onClick={props.onToggle}
    >
      {added > 0 && <ins>{`+${added}`}</ins>}
      {removed > 0 && <del>{`−${removed}`}</del>}
      {added + removed === 0 && '±0'}
    </button>
  );
}

function Text({ edit }: { edit: PendingEdit }): React.JSX.Element {
  const trans = useTrans();
  const lines = React.useMemo(() => linesOf(edit), [edit]);
  return <DiffLines lines={lines} label={trans.__('What changed')} />;
}

/** What to know before a decision. */
function Remarks(props: {
  row: IChangeRow;
  edit: PendingEdit;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { error, conflict, cell_id } = props.edit;
  const isLost = props.row.status === 'lost';
  if (isLost && props.row.kind === 'deleted') {
    return (
      <p className="shoulders-ChangeRow-remark">
        {cell_id === null
          ? trans.__(
              'Its text was not kept, so this file cannot be restored here.'
            )
          : trans.__(
              'Its text was not kept, so this cell cannot be restored here.'
            )}
      </p>
    );
  }
  if (error !== null) {
    return <ErrorNote error={error} />;
  }
  return conflict ? (
    <p className="shoulders-ChangeRow-remark">
      {trans.__(
        'You have changed the same lines since. Undo keeps your changes.'
      )}
    </p>
  ) : null;
}

/** Keep and undo; for a deleted cell, whether to restore it. */
function Decision(props: {
  row: IChangeRow;
  edit: PendingEdit;
  onFocusLost: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { review } = useHost();
  const { error, runOnce } = useAction();
  const { row, edit } = props;
  const ref = useFocusHandover(props.onFocusLost);
  const name = `${cellOrFile(row, trans)} ${visible(row.change.title)}`.trim();
  const words = decisionWords(row, trans);
  const button = (decision: 'keep' | 'undo', text: string) => (
    <Button
      className="shoulders-ChangeRow-decide"
      label={`${text}: ${name}`}
      onClick={() => {
        if (review !== null) {
          runOnce(() => review.decide([edit], decision));
        }
      }}
    >
      {text}
    </Button>
  );
  return (
    <>
      <span className="shoulders-ChangeRow-actions" ref={ref}>
        {button('keep', words.keep)}
        {words.undo !== null && button('undo', words.undo)}
      </span>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** Calls `pass` when the focused element goes away. */
function useFocusHandover(pass: () => void): React.RefObject<HTMLSpanElement> {
  const ref = React.useRef<HTMLSpanElement>(null);
  React.useLayoutEffect(() => {
    const { current } = ref;
    return () => {
      if (current?.contains(focused()) === true) {
        requestAnimationFrame(pass);
      }
    };
  }, [pass]);
  return ref;
}

function decisionWords(
  { kind, status, edit }: IChangeRow,
  trans: TranslationBundle
): { keep: string; undo: string | null } {
  if (status === 'lost') {
    return { keep: trans.__('Dismiss'), undo: null };
  }
  if (edit?.error) {
    return { keep: trans.__('Keep'), undo: null };
  }
  switch (kind) {
    case 'deleted':
      return { keep: trans.__('Keep deleted'), undo: trans.__('Restore') };
    case 'made':
      return { keep: trans.__('Keep'), undo: trans.__('Remove') };
    case 'edited':
    case 'moved':
    case 'cleared':
      return { keep: trans.__('Keep'), undo: trans.__('Undo') };
  }
}

function cellOrFile(row: IChangeRow, trans: TranslationBundle): string {
  const { cell_id, document } = row.change;
  return cell_id === null ? visible(document) : cellName(row, trans);
}

function cellName(
  { kind, edit }: IChangeRow,
  trans: TranslationBundle
): string {
  const number = (edit?.position ?? -1) + 1;
  switch (kind) {
    case 'deleted':
      return trans.__('Deleted cell');
    case 'made':
      return trans.__('New cell');
    case 'moved':
      return trans.__('Moved cell');
    case 'cleared':
      return trans.__('Cleared outputs');
    case 'edited':
      return number === 0 ? trans.__('Cell') : trans.__('Cell %1', number);
  }
}

function statusName(
  { kind, status }: IChangeRow,
  trans: TranslationBundle
): string {
  switch (status) {
    case 'kept':
      return kind === 'deleted' ? trans.__('kept deleted') : trans.__('kept');
    case 'undone':
      return kind === 'deleted' ? trans.__('restored') : trans.__('undone');
    case 'later':
      return trans.__('changed again later');
    case 'pending':
    case 'lost':
    case 'gone':
    case 'done':
      return '';
  }
}
