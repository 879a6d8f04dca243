/** A unified difference, line by line. */

import * as React from 'react';

import {
  countChanges,
  diffLines,
  diffWords,
  parseDiff,
  type IDiffLine,
  type IWordLine
} from '../../text/diff';
import { visible } from '../../text/hiddenCharacters';
import { useTrans } from '../hooks';

const SIGNS = { same: ' ', old: '−', new: '+', gap: '⋯' };

/** Changed lines between two texts. */
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

/** Changed lines between two texts, with changed words marked. */
export const WordDiff = React.memo(function WordDiff(props: {
  before: string;
  after: string;
}): React.JSX.Element {
  const lines = React.useMemo(
    () => diffWords(props.before, props.after),
    [props.before, props.after]
  );
  return <DiffView lines={lines} />;
});

/** A unified difference as a tool printed it. */
export function DiffText({ text }: { text: string }): React.JSX.Element {
  return <DiffView lines={parseDiff(text)} />;
}

/** A line of a difference, with its changed words if known. */
type Line = IDiffLine & Partial<Pick<IWordLine, 'words'>>;

function DiffView(props: { lines: readonly Line[] }): React.JSX.Element {
  const trans = useTrans();
  const { added, removed } = countChanges(props.lines);
  const label = trans.__('%1 lines added, %2 removed', added, removed);
  return <DiffLines lines={props.lines} label={label} />;
}

/** Lines of a difference, with labels for screen readers. */
export function DiffLines(props: {
  lines: readonly Line[];
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
          <LineText line={line} />
        </div>
      ))}
    </pre>
  );
}

function LineText({ line }: { line: Line }): React.JSX.Element {
  const { kind, text, words = [] } = line;
  if (words.length === 0) {
    return <span>{visible(text)}</span>;
  }
  const Word = kind === 'old' ? 'del' : 'ins';
  return (
    <span>
      {words.map(({ from, to }, index) => (
        <React.Fragment key={from}>
          {visible(text.slice(words[index - 1]?.to ?? 0, from))}
          <Word className="shoulders-Diff-word">
            {visible(text.slice(from, to))}
          </Word>
        </React.Fragment>
      ))}
      {visible(text.slice(words.at(-1)?.to ?? 0))}
    </span>
  );
}
