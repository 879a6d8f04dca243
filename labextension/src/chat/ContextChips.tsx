/** What of the user's page goes with the next message; each can be left out. */

import * as React from 'react';

import { visible } from '../model/visible';
import type { MessageContext } from '../wire/generated';
import type { ISituation } from './host';
import { IconButton } from './parts';
import { useHost, useTrans } from './use';

/** What can be left out. */
export type Piece = 'document' | 'cell' | 'selection';

/** The context of a message without the pieces the user removed. */
export function contextOf(
  situation: ISituation,
  left: ReadonlySet<Piece>
): MessageContext | null {
  const { document, cell, selection, openDocuments } = situation;
  if (document === null || left.has('document')) {
    return null;
  }
  return {
    active_document: document,
    active_cell_id: left.has('cell') ? null : (cell?.id ?? null),
    selection: left.has('selection') ? null : selection,
    open_documents: [...openDocuments]
  };
}

export function ContextChips(props: {
  situation: ISituation;
  left: ReadonlySet<Piece>;
  onLeave: (piece: Piece) => void;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { situation, left, onLeave } = props;
  const { document, cell, selection } = situation;
  if (document === null || left.has('document')) {
    return null;
  }
  const lines = selection?.text.split('\n').length ?? 0;
  return (
    <div className="shoulders-Chips" aria-label={trans.__('Context')}>
      <Chip
        text={visible(document.split('/').at(-1) ?? document)}
        title={visible(document)}
        onRemove={() => onLeave('document')}
      />
      {cell !== null && !left.has('cell') && (
        <Chip
          text={trans.__('Cell %1', cell.number)}
          title={trans.__('The active cell')}
          onRemove={() => onLeave('cell')}
        />
      )}
      {selection !== null && !left.has('selection') && (
        <Chip
          text={trans._n('%1 line selected', '%1 lines selected', lines)}
          title={visible(selection.text.slice(0, 300))}
          onRemove={() => onLeave('selection')}
        />
      )}
    </div>
  );
}

function Chip(props: {
  text: string;
  title: string;
  onRemove: () => void;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  return (
    <span className="shoulders-Chip" title={props.title}>
      <Icon name="notebook" />
      <span className="shoulders-Chip-text">{props.text}</span>
      <IconButton
        icon="close"
        label={trans.__('Leave out %1', props.text)}
        onClick={props.onRemove}
      />
    </span>
  );
}
