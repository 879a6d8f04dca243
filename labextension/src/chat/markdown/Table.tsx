/** A Markdown table; a growing one renders only its new rows. Used by `Markdown`. */

import type { Tokens } from 'marked';
import * as React from 'react';

import { toInlineHtml } from './grammar';
import { useSanitised } from './Html';

export function Table({ table }: { table: Tokens.Table }): React.JSX.Element {
  return (
    // A wide table can be scrolled by keyboard.
    <div className="shoulders-Markdown-block" tabIndex={0}>
      <table>
        <thead>
          <Row cells={table.header} />
        </thead>
        {table.rows.length > 0 && (
          <tbody>
            {table.rows.map((cells, index) => (
              // Rows never move: they are appended or changed in place.
              <Row key={index} cells={cells} />
            ))}
          </tbody>
        )}
      </table>
    </div>
  );
}

interface IRow {
  readonly cells: readonly Tokens.TableCell[];
}

const Row = React.memo(
  function Row({ cells }: IRow): React.JSX.Element {
    return (
      <tr>
        {cells.map((cell, index) => (
          <Cell key={index} cell={cell} />
        ))}
      </tr>
    );
  },
  (before, after) =>
    before.cells.length === after.cells.length &&
    before.cells.every((cell, index) => isSame(cell, after.cells[index]))
);

/** Whether two cells are equal; cells with references may resolve differently. */
function isSame(
  one: Tokens.TableCell,
  other: Tokens.TableCell | undefined
): boolean {
  return one === other || (one.text === other?.text && !one.text.includes('['));
}

function Cell({ cell }: { cell: Tokens.TableCell }): React.JSX.Element {
  const html = toInlineHtml(cell.tokens);
  const { ref, chips } = useSanitised<HTMLTableCellElement>(html);
  const align = cell.align ?? undefined;
  return (
    <>
      {cell.header ? (
        <th ref={ref} align={align} />
      ) : (
        <td ref={ref} align={align} />
      )}
      {chips}
    </>
  );
}
