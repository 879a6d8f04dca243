/** Thumbnails of a run's images and tables below its line; a click opens the outputs in the notebook. */

import * as React from 'react';

import { outputCellOf, pathOf } from '../../model/view-models/callTargets';
import {
  previewOfRun,
  type ITablePreview
} from '../../model/view-models/runPreviews';
import { callTitle } from '../../model/view-models/toolOwners';
import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { CallView } from '../../wire/generated';
import { LinkOrText } from '../../ui/primitives';
import { useHost, useTrans } from '../../ui/hooks';

export const RunPreview = React.memo(function RunPreview(props: {
  call: CallView;
}): React.JSX.Element | null {
  const { call } = props;
  const go = useOutputOpener(call);
  const preview = React.useMemo(() => previewOfRun(call), [call]);
  if (preview === null) {
    return null;
  }
  const { pictures, more, table } = preview;
  return (
    <>
      {pictures.length > 0 && (
        <Pictures
          sources={pictures}
          more={more}
          title={callTitle(call)}
          go={go}
        />
      )}
      {table !== null && <Table table={table} go={go} />}
    </>
  );
});

type OutputLink = (() => void) | null;

function useOutputOpener(call: CallView): OutputLink {
  const { openTarget } = useHost();
  const path = pathOf(call);
  const cellId = outputCellOf(call);
  return openTarget === null || path === null || cellId === null
    ? null
    : () => openTarget({ path, cellId, part: 'output' });
}

function Pictures(props: {
  sources: readonly string[];
  more: number;
  title: string;
  go: OutputLink;
}): React.JSX.Element {
  const trans = useTrans();
  const { sources, more, title, go } = props;
  return (
    <div className="shoulders-RunPreview">
      {sources.map((source, index) => (
        <LinkOrText
          key={index}
          className="shoulders-RunPreview-picture"
          title={go === null ? '' : trans.__('Go to the output')}
          go={go}
        >
          <img
            src={source}
            alt={trans.__(
              'Picture from “%1”',
              visible(serverText(trans, title))
            )}
            loading="lazy"
            decoding="async"
          />
        </LinkOrText>
      ))}
      {more > 0 && (
        <span className="shoulders-RunPreview-more">
          {trans._n('%1 more picture', '%1 more pictures', more)}
        </span>
      )}
    </div>
  );
}

function Table(props: {
  table: ITablePreview;
  go: OutputLink;
}): React.JSX.Element {
  const trans = useTrans();
  const { header, rows, size } = props.table;
  const { go } = props;
  const words =
    size === null
      ? trans.__('Table')
      : trans.__('%1 rows × %2 columns', size.rows, size.columns);
  return (
    // The keyboard uses the link below; with the mouse the whole preview is a link.
    <div
      className={`shoulders-RunPreview shoulders-mod-table${go === null ? '' : ' shoulders-mod-link'}`}
      onClick={event => {
        if (!(event.target instanceof HTMLButtonElement)) {
          go?.();
        }
      }}
    >
      <table>
        {header.length > 0 && (
          <thead>
            <tr>
              {header.map((text, index) =>
                text === '' ? <td key={index} /> : <th key={index}>{text}</th>
              )}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((text, column) => (
                <td key={column}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <LinkOrText
        className="shoulders-RunPreview-more"
        title={go === null ? '' : trans.__('Go to the output')}
        go={go}
      >
        {words}
      </LinkOrText>
    </div>
  );
}
