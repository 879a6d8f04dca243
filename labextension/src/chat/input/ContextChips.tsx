/** Editor context of the next message; each item can be removed and restored. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { RemovedPieces, ContextPiece } from './editorContext';
import type { IconName, IEditorContext } from '../../host/chatHost';
import { focusComposer, useHost, useTrans } from '../../ui/hooks';
import { Chip } from './Chip';
import { nameOf } from '../../ui/attachmentLabels';

/** An item as shown. */
interface IContextChip {
  readonly piece: ContextPiece;
  readonly icon: IconName;
  readonly text: string;
  readonly title: string;
}

export function ContextChips(props: {
  editorContext: IEditorContext;
  removed: RemovedPieces;
  onRemove: (piece: ContextPiece) => void;
  onRestore: () => void;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { editorContext, removed, onRemove } = props;
  const shown = [
    ...ofDocument(editorContext, removed, trans),
    ...ofTabs(editorContext, trans)
  ];
  return (
    <>
      {shown
        .filter(({ piece }) => !removed.has(piece))
        .map(({ piece, icon, text, title }) => (
          <Chip
            key={piece}
            icon={icon}
            text={text}
            title={title}
            onRemove={() => onRemove(piece)}
          />
        ))}
      {removed.size > 0 && (
        <button
          type="button"
          className="shoulders-Chip shoulders-mod-back"
          title={trans.__('Include open documents again')}
          onClick={() => {
            props.onRestore();
            focusComposer();
          }}
        >
          <Icon name="add" />
          <span className="shoulders-Chip-text">{trans.__('Context')}</span>
        </button>
      )}
    </>
  );
}

/** The active document, and the selection in it. */
function ofDocument(
  { document, cell, selection }: IEditorContext,
  left: RemovedPieces,
  trans: TranslationBundle
): IContextChip[] {
  if (document === null || left.has('document')) {
    return [];
  }
  const icon = document.endsWith('.ipynb') ? 'notebook' : 'file';
  const shown: IContextChip[] = [
    { piece: 'document', icon, text: nameOf(document), title: document }
  ];
  if (cell !== null) {
    shown.push({
      piece: 'cell',
      icon: 'cell',
      text: trans.__('Cell %1', cell.number),
      title: trans.__('The active cell')
    });
  }
  if (selection !== null) {
    const lines = selection.text.split('\n').length;
    shown.push({
      piece: 'selection',
      icon: 'pencil',
      text: trans._n('%1 line selected', '%1 lines selected', lines),
      title: selection.text.slice(0, 300)
    });
  }
  return shown;
}

function ofTabs(
  { document, openDocuments }: IEditorContext,
  trans: TranslationBundle
): IContextChip[] {
  const others = openDocuments.filter(path => path !== document);
  return others.length === 0
    ? []
    : [
        {
          piece: 'open',
          icon: 'folder',
          text: trans._n('%1 open tab', '%1 open tabs', others.length),
          title: others.join('\n')
        }
      ];
}
