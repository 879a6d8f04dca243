/** Work that an agent of others reports, as one line that expands to its texts, differences and outputs. */

import * as React from 'react';

import {
  activityDetail,
  activityIcon,
  activityPaths,
  activityState,
  nameOf,
  unfenced,
  type ActivityPiece
} from '../../model/view-models/agentActivities';
import { visible } from '../../text/hiddenCharacters';
import type { ActivityView } from '../../wire/generated';
import { LocationLink } from '../../ui/LocationLink';
import { useHost, useTrans } from '../../ui/hooks';
import { Diff } from '../../ui/viewers/Diff';
import { TerminalText } from '../../ui/viewers/TerminalText';

export const ActivityLine = React.memo(function ActivityLine(props: {
  activity: ActivityView;
}): React.JSX.Element {
  const { Icon } = useHost();
  const { activity } = props;
  const { kind, title, status } = activity;
  const note = useNote(activity);
  const [open, setOpen] = React.useState(false);
  const detail = activityDetail(activity);
  const hasDetail = detail.length > 0;
  const toggle = (): void => setOpen(!open);
  return (
    <div
      className={`shoulders-Call shoulders-Activity shoulders-mod-${activityState(activity)}`}
    >
      {/* The keyboard uses the button; with the mouse the whole line expands. */}
      <div
        className={`shoulders-CallRow ${hasDetail ? '' : 'shoulders-mod-plain'}`}
        onClick={event => {
          if (hasDetail && !isControl(event.target)) {
            toggle();
          }
        }}
      >
        <button
          type="button"
          className="shoulders-Disclosure"
          aria-expanded={hasDetail ? open : undefined}
          aria-label={visible(`${title} ${note}`.trim())}
          disabled={!hasDetail}
          onClick={toggle}
        >
          <Icon name={activityIcon(kind)} />
          <span className="shoulders-Call-title" title={visible(title)}>
            {visible(title)}
          </span>
        </button>
        <Locations activity={activity} />
        {status === 'in_progress' && <span className="shoulders-Pulse" />}
        {note !== '' && <span className="shoulders-Call-note">{note}</span>}
        {hasDetail && (
          <span className="shoulders-Disclosure-caret">
            <Icon name={open ? 'caret-down' : 'caret-right'} />
          </span>
        )}
      </div>
      {open && hasDetail && (
        <div className="shoulders-CallDetail">
          {detail.map((piece, index) => (
            <Piece key={index} piece={piece} />
          ))}
        </div>
      )}
    </div>
  );
});

function useNote({ status }: ActivityView): string {
  const trans = useTrans();
  return status === 'failed' ? trans.__('failed') : '';
}

/** Links to the files by their names. */
function Locations(props: {
  activity: ActivityView;
}): React.JSX.Element | null {
  const { activity } = props;
  const paths = activityPaths(activity);
  return paths.length === 0 ? null : (
    <span className="shoulders-Call-target">
      {paths.map((path, index) => (
        <React.Fragment key={path}>
          {index > 0 && ', '}
          <FileLink path={path} />
        </React.Fragment>
      ))}
    </span>
  );
}

function FileLink({ path }: { path: string }): React.JSX.Element {
  const trans = useTrans();
  const { openTarget } = useHost();
  const name = visible(nameOf(path));
  return openTarget === null || path.startsWith('/') ? (
    <span title={visible(path)}>{name}</span> // A file outside the workspace.
  ) : (
    <LocationLink
      title={trans.__('Show in %1', visible(path))}
      onGo={() => openTarget({ path })}
    >
      {name}
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
