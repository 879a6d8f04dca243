/** The places found, by document. The field keeps the focus and names the active option. */

import * as React from 'react';

import { visible } from '../text/hiddenCharacters';
import { formatCount } from '../text/numberFormat';
import { nameOf } from '../ui/attachmentLabels';
import { useTrans, useView } from '../ui/hooks';
import type { SearchMatch } from '../wire/generated';
import {
  byDocument,
  markedParts,
  placeOf,
  snippetLines,
  type ISnippetPart
} from './searchResults';
import type { ISearchState } from './searchState';

/** The id of an option, for `aria-activedescendant`. */
export function optionId(list: string, index: number): string {
  return `${list}-${index}`;
}

export function ResultList(props: {
  id: string;
  state: ISearchState;
  FileIcon: (props: { path: string }) => React.JSX.Element;
  onPoint: (index: number) => void;
  /** `attaches`: with the Alt key. */
  onPick: (match: SearchMatch, attaches: boolean) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { id, state, FileIcon, onPoint, onPick } = props;
  const { active, matches } = state;
  const groups = React.useMemo(() => byDocument(matches), [matches]);
  const list = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    if (active === 0 && list.current !== null) {
      list.current.scrollTop = 0; // The first option has a header above it.
    } else {
      document
        .getElementById(optionId(id, active))
        ?.scrollIntoView({ block: 'nearest' });
    }
  }, [id, active, matches]);
  return (
    <div
      className="shoulders-Search-list"
      role="listbox"
      id={id}
      ref={list}
      aria-label={trans.__('Places found')}
      hidden={matches.length === 0}
      // Must be focusable to scroll by keyboard; a click leaves the focus in the field.
      tabIndex={0}
      onMouseDown={event => event.preventDefault()}
    >
      {groups.map(({ document, rows }, index) => (
        <div
          key={document}
          role="group"
          aria-labelledby={`${id}-document-${index}`}
        >
          <DocumentHead
            id={`${id}-document-${index}`}
            first={rows[0]?.match}
            FileIcon={FileIcon}
          />
          {rows.map(row => (
            <Place
              key={placeOf(row.match)}
              id={optionId(id, row.index)}
              match={row.match}
              active={row.index === active}
              onPoint={() => onPoint(row.index)}
              onPick={attaches => onPick(row.match, attaches)}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

/** The file or conversation that matches are in; `first` is one of them. */
function DocumentHead(props: {
  id: string;
  first: SearchMatch | undefined;
  FileIcon: (props: { path: string }) => React.JSX.Element;
}): React.JSX.Element | null {
  const { id, first, FileIcon } = props;
  if (first === undefined) {
    return null;
  }
  if (first.conversation !== null) {
    return <ConversationHead id={id} match={first} />;
  }
  const { name_marks, path } = first;
  const name = nameOf(path);
  const folder = path.slice(0, -name.length - 1);
  return (
    <div
      className="shoulders-Search-document"
      id={id}
      role="presentation"
      title={visible(path)}
    >
      <FileIcon path={path} />
      <span className="shoulders-Search-name">
        <Marked parts={markedParts(name, name_marks)} />
      </span>{' '}
      <span className="shoulders-Search-folder">{visible(folder)}</span>
    </div>
  );
}

function ConversationHead(props: {
  id: string;
  match: SearchMatch;
}): React.JSX.Element {
  const trans = useTrans();
  const { Icon } = useView();
  const { heading, heading_marks } = props.match;
  return (
    <div
      className="shoulders-Search-document"
      id={props.id}
      role="presentation"
      title={visible(heading)}
    >
      <Icon name="thread" />
      <span className="shoulders-Search-name">
        {heading === '' ? (
          trans.__('Untitled conversation')
        ) : (
          <Marked parts={markedParts(heading, heading_marks)} />
        )}
      </span>{' '}
      <span className="shoulders-Search-folder">
        {trans.__('conversation')}
      </span>
    </div>
  );
}

function Place(props: {
  id: string;
  match: SearchMatch;
  active: boolean;
  onPoint: () => void;
  onPick: (attaches: boolean) => void;
}): React.JSX.Element {
  const { id, match, active, onPoint, onPick } = props;
  return (
    <div
      className="shoulders-Search-place"
      role="option"
      id={id}
      aria-selected={active}
      onMouseMove={active ? undefined : onPoint}
      onClick={event => onPick(event.altKey)}
    >
      <PlaceHead match={match} />
      <Snippet match={match} />
    </div>
  );
}

/** Where the place is in its document. */
function PlaceHead({
  match
}: {
  match: SearchMatch;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { heading, heading_marks, is_output, kind, line, matched_by } = match;
  if (kind === 'conversation') {
    return null; // Its title is the name of the group.
  }
  const isByMeaning = matched_by === 'meaning';
  const hasLine = kind !== 'notebook' && kind !== 'document';
  if (heading === '' && !is_output && !isByMeaning && !hasLine) {
    return null;
  }
  return (
    <div className="shoulders-Search-head">
      <span className="shoulders-Search-heading" title={visible(heading)}>
        <Marked parts={markedParts(heading, heading_marks)} />
      </span>
      {is_output && (
        <span className="shoulders-Badge">{trans.__('output')}</span>
      )}
      {isByMeaning && (
        <span className="shoulders-Badge">{trans.__('meaning')}</span>
      )}
      {hasLine && (
        <span className="shoulders-Search-line">
          {trans.__('line %1', formatCount(line))}
        </span>
      )}
    </div>
  );
}

/** A text with the matching words marked. */
function Marked(props: { parts: readonly ISnippetPart[] }): React.JSX.Element {
  return (
    <>
      {props.parts.map(({ text, isMatch }, at) =>
        isMatch ? (
          <mark key={at}>{visible(text)}</mark>
        ) : (
          <React.Fragment key={at}>{visible(text)}</React.Fragment>
        )
      )}
    </>
  );
}

/** The lines of the text. */
const Snippet = React.memo(function Snippet({
  match
}: {
  match: SearchMatch;
}): React.JSX.Element {
  return (
    <div className="shoulders-Search-snippet">
      {snippetLines(match).map((line, number) => (
        <div key={number}>
          <Marked parts={line} />
        </div>
      ))}
    </div>
  );
});
