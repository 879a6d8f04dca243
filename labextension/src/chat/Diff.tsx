/** A unified difference, line by line. */

import * as React from 'react';

import {
  countChanges,
  diffLines,
  parseDiff,
  type IDiffLine
} from '../model/diff';
import { visible } from '../model/visible';
import { useTrans } from './use';

const SIGNS = { same: ' ', old: '−', new: '+', gap: '⋯' };

/** What changed between two texts. */
export const Diff = React.memo(function Diff(props: {
  before: string;
  after: string;
}): React.JSX.Element {
  const lines = React.useMemo(
    () => diffLines(props.before, props.after),
    [props.before, props.after]
  );
  return <DiffView lines={lines} />;
});

/** A unified difference as a tool wrote it. */
export function DiffText({ text }: { text: string }): React.JSX.Element {
  return <DiffView lines={parseDiff(text)} />;
}

function DiffView(props: { lines: readonly IDiffLine[] }): React.JSX.Element {
  const trans = useTrans();
  const { added, removed } = countChanges(props.lines);
  const label = trans.__('%1 lines added, %2 removed', added, removed);
  return <DiffLines lines={props.lines} label={label} />;
}

/** The lines of a difference, with what a screen reader says of them. */
export function DiffLines(props: {
  lines: readonly IDiffLine[];
  label: string;
}): React.JSX.Element {
  return (
    <pre className="shoulders-Diff" tabIndex={0} aria-label={props.label}>
      {props.lines.map((line, index) => (
        <div
          key={index}
          className={`shoulders-Diff-line shoulders-mod-${line.kind}`}
        >
          <span className="shoulders-Diff-sign">{SIGNS[line.kind]}</span>
          <span>{visible(line.text)}</span>
        </div>
      ))}
    </pre>
  );
}
