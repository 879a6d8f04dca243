/** The works found. The search field keeps the focus and names the active option; rows can be dragged into cells. */

import * as React from 'react';

import { visible } from '../text/hiddenCharacters';
import { useTrans } from '../ui/hooks';
import { Badge, Button } from '../ui/primitives';
import type { Reference } from '../wire/generated';
import { CITATION_MIME } from './commandIds';
import { shortAuthors } from './matching';
import type { IPanelState, PanelStore } from './panelStore';
import type { IPanelHost } from './panelHost';

/** The id of an option, for `aria-activedescendant`. */
export function optionId(list: string, index: number): string {
  return `${list}-${index}`;
}

export function ReferenceRows(props: {
  id: string;
  state: IPanelState;
  store: PanelStore;
  host: Pick<IPanelHost, 'cite' | 'citation'>;
}): React.JSX.Element {
  const trans = useTrans();
  const { id, state, store, host } = props;
  const { active, found, list, query, total } = state;
  React.useLayoutEffect(() => {
    document
      .getElementById(optionId(id, active))
      ?.scrollIntoView({ block: 'nearest' });
  }, [id, active, found]);
  return (
    <div className="shoulders-References-list">
      <div role="listbox" id={id} aria-label={trans.__('References')}>
        {found.map((reference, index) => (
          <Row
            key={`${reference.file}:${reference.line}:${reference.key}`}
            id={optionId(id, index)}
            reference={reference}
            active={index === active}
            onPoint={() => store.point(index)}
            host={host}
          />
        ))}
      </div>
      {total > found.length && (
        <Button onClick={() => store.showMore()}>
          {trans.__('Show more')}
        </Button>
      )}
      {list !== null && found.length === 0 && (
        <p className="shoulders-References-empty">
          {query.trim() === ''
            ? trans.__(
                'No references yet. Add a work above; it is written to %1.',
                visible(list.add_to)
              )
            : trans.__('Nothing found. Try fewer or other words.')}
        </p>
      )}
    </div>
  );
}

function Row(props: {
  id: string;
  reference: Reference;
  active: boolean;
  onPoint: () => void;
  host: Pick<IPanelHost, 'cite' | 'citation'>;
}): React.JSX.Element {
  const trans = useTrans();
  const { id, reference, active, onPoint, host } = props;
  const { authors, file, key, title, unverified, venue, year } = reference;
  const about = [shortAuthors(authors), year, venue]
    .filter(Boolean)
    .join(' · ');
  return (
    <div
      className="shoulders-References-row"
      role="option"
      id={id}
      aria-selected={active}
      draggable
      title={trans.__('Double-click to cite, or drag into a cell')}
      onMouseDown={onPoint}
      onDoubleClick={() => host.cite(reference)}
      onDragStart={event => {
        const citation = host.citation(reference);
        event.dataTransfer.setData('text/plain', citation);
        event.dataTransfer.setData(CITATION_MIME, citation);
        event.dataTransfer.effectAllowed = 'copy';
      }}
    >
      <div className="shoulders-References-title">{visible(title || key)}</div>
      <div className="shoulders-References-quiet">{visible(about)}</div>
      <div className="shoulders-References-key">
        <code>{visible(key)}</code>
        {file === '' && <Badge>{trans.__('Zotero')}</Badge>}
        {reference.is_duplicate && (
          <Badge kind="warning">{trans.__('duplicate key')}</Badge>
        )}
        {unverified !== '' && (
          <Badge kind="warning" title={visible(unverified)}>
            {trans.__('not verified')}
          </Badge>
        )}
      </div>
    </div>
  );
}
