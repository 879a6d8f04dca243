/** Work that an agent of others reports, as one line that expands to its texts, differences and outputs. */

import * as React from 'react';

import {
  activityDetail,
  activityIcon,
  activityPaths,
  activityState,
  nameOf,
  titleParts,
  unfenced,
  type ActivityPiece
} from '../../model/view-models/agentActivities';
import { visible } from '../../text/hiddenCharacters';
import type { ActivityView } from '../../wire/generated';
import { LocationLink } from '../../ui/LocationLink';
import { isRunning } from '../../model/view-models/turnState';
import { useHost, useSignal, useTabContext, useTrans } from '../../ui/hooks';
import { Diff } from '../../ui/viewers/Diff';
import { TerminalText } from '../../ui/viewers/TerminalText';

interface ILine {
  activity: ActivityView;
  /** Whether its message is the last one. */
  last: boolean;
}

export const ActivityLine = React.memo(function ActivityLine(
  props: ILine
): React.JSX.Element {
  const { activity } = props;
  const [open, setOpen] = React.useState(false);
  const detail = activityDetail(activity);
  return (
    <div
      className={`shoulders-Call shoulders-Activity shoulders-mod-${activityState(activity)}`}
    >
      <Row
        {...props}
        open={open}
        onToggle={detail.length === 0 ? null : () => setOpen(!open)}
      />
      {open && detail.length > 0 && (
        <div className="shoulders-CallDetail">
          {detail.map((piece, index) => (
            <Piece key={index} piece={piece} />
          ))}
        </div>
      )}
    </div>
  );
});

/** The line; `onToggle` is null when there is nothing to expand. */
function Row(
  props: ILine & { open: boolean; onToggle: (() => void) | null }
): React.JSX.Element {
  const { Icon } = useHost();
  const { activity, last, open, onToggle } = props;
  const note = useNote(activity);
  const title = visible(activity.title);
  const paths = activityPaths(activity);
  const { before, file, path, after } = titleParts(title, paths);
  return (
    // The keyboard uses the button; with the mouse the whole line expands.
    <div
      className={`shoulders-CallRow ${onToggle === null ? 'shoulders-mod-plain' : ''}`}
      onClick={event => {
        if (!isControl(event.target)) {
          onToggle?.();
        }
      }}
    >
      <button
        type="button"
        className="shoulders-Disclosure"
        aria-expanded={onToggle === null ? undefined : open}
        aria-label={`${title} ${note}`.trim()}
        title={title}
        disabled={onToggle === null}
        onClick={() => onToggle?.()}
      >
        <Icon name={activityIcon(activity.kind)} />
        <span className="shoulders-Call-title">{before}</span>
      </button>
      {path !== null && (
        <span className="shoulders-Call-cell">
          <FileLink path={path}>{file}</FileLink>
        </span>
      )}
      {after !== '' && <span className="shoulders-Call-title">{after}</span>}
      <OtherFiles paths={paths.filter(each => each !== path)} />
      {activity.status === 'in_progress' && <Progress last={last} />}
      {note !== '' && <span className="shoulders-Call-note">{note}</span>}
      {onToggle !== null && (
        <span className="shoulders-Disclosure-caret">
          <Icon name={open ? 'caret-down' : 'caret-right'} />
        </span>
      )}
    </div>
  );
}

/** A pulse while the turn runs; afterwards a note, because an agent that ended reports nothing more. */
function Progress({ last }: { last: boolean }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const store = conversations.store(tab);
  const running = useSignal(
    store?.changed ?? null,
    () => store !== null && isRunning(store.view)
  );
  return running && last ? (
    <span className="shoulders-Pulse" />
  ) : (
    <span className="shoulders-Call-note">{trans.__('stopped')}</span>
  );
}

function useNote({ status }: ActivityView): string {
  const trans = useTrans();
  return status === 'failed' ? trans.__('failed') : '';
}

/** Links to the files that the title does not name. */
function OtherFiles(props: {
  paths: readonly string[];
}): React.JSX.Element | null {
  const { paths } = props;
  return paths.length === 0 ? null : (
    <span className="shoulders-Call-target">
      {paths.map((path, index) => (
        <React.Fragment key={path}>
          {index > 0 && ', '}
          <FileLink path={path}>{visible(nameOf(path))}</FileLink>
        </React.Fragment>
      ))}
    </span>
  );
}

function FileLink(props: {
  path: string;
  children: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { openTarget } = useHost();
  const { path, children } = props;
  return openTarget === null || path.startsWith('/') ? (
    <span title={visible(path)}>{children}</span> // A file outside the workspace.
  ) : (
    <LocationLink
      title={trans.__('Show in %1', visible(path))}
      onGo={() => openTarget({ path })}
    >
      {children}
    </LocationLink>
  );
}

function Piece({ piece }: { piece: ActivityPiece }): React.JSX.Element | null {
  switch (piece.type) {
    case 'text':
      return <TerminalText text={unfenced(piece.text)} />;
    case 'diff':
      return (
        <>
          <h4>{visible(piece.path)}</h4>
          <Diff before={piece.old ?? ''} after={piece.new} />
        </>
      );
    case 'terminal':
      return null;
  }
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button') !== null;
}
