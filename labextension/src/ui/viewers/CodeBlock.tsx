/** A code block with its language and buttons to copy it or make it a cell or file. */

import * as React from 'react';

import { legible, visible, withoutHidden } from '../../text/hiddenCharacters';
import { ProgressiveHighlighter } from './progressiveHighlight';
import { ErrorNote, IconButton } from '../primitives';
import { useDone } from '../Toolbar';
import { useAction, useHost, useSignal, useTrans } from '../hooks';

const CELL_LANGUAGES = /^(python\d?|ipython|py|r|julia|jl|markdown|md|)$/i;

interface ICode {
  code: string;
  language: string;
}

export const CodeBlock = React.memo(function CodeBlock(
  props: ICode
): React.JSX.Element {
  const { language } = props;
  const trans = useTrans();
  const { insertBelow, newFile } = useHost();
  // Buttons use the visible text.
  const { text: code, hidden } = React.useMemo(
    () => withoutHidden(props.code),
    [props.code]
  );
  const { busy, error, run } = useAction();
  return (
    <div className="shoulders-Code">
      <div className="shoulders-Code-bar">
        <span className="shoulders-Code-language">{visible(language)}</span>
        {insertBelow !== null && CELL_LANGUAGES.test(language) && (
          <CellActions code={code} language={language} />
        )}
        {newFile !== null && (
          <IconButton
            icon="file-add"
            label={trans.__('New file')}
            // Disabling it would lose the focus.
            onClick={() => busy || run(() => newFile(code, language))}
          />
        )}
        <CopyCode code={code} />
      </div>
      {hidden > 0 && <HiddenNote hidden={hidden} />}
      <Code code={legible(props.code)} language={language} />
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
});

function HiddenNote({ hidden }: { hidden: number }): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  return (
    <div className="shoulders-Remark shoulders-mod-warning shoulders-Code-hidden">
      <Icon name="error" />
      <span>
        {trans._n(
          'Contains %1 hidden character. Copy and insert leave it out.',
          'Contains %1 hidden characters. Copy and insert leave them out.',
          hidden
        )}
      </span>
    </div>
  );
}

function CopyCode({ code }: { code: string }): React.JSX.Element {
  const trans = useTrans();
  const { copy } = useHost();
  const { done, confirm } = useDone<'copied'>();
  return (
    <IconButton
      icon={done === null ? 'copy' : 'check'}
      label={done === null ? trans.__('Copy') : trans.__('Copied')}
      onClick={() => {
        copy(code);
        confirm('copied');
      }}
    />
  );
}

/** Buttons for code that could be a cell, while a notebook is active. */
function CellActions({ code, language }: ICode): React.JSX.Element {
  const trans = useTrans();
  const host = useHost();
  const { done, confirm } = useDone<'inserted' | 'replaced'>();
  const hasCell = useSignal(
    host.situationChanged,
    () => host.situation.cell !== null
  );
  const insert = trans.__('Insert as cell below');
  const replace = trans.__('Replace the active cell');
  const missing = trans.__('Open a notebook first');
  return (
    <>
      <IconButton
        icon={done === 'inserted' ? 'check' : 'insert'}
        label={hasCell ? insert : `${insert} (${missing})`}
        disabled={!hasCell}
        onClick={() => {
          if (host.insertBelow?.(code, language) === true) {
            confirm('inserted');
          }
        }}
      />
      <IconButton
        icon={done === 'replaced' ? 'check' : 'replace'}
        label={hasCell ? replace : `${replace} (${missing})`}
        disabled={!hasCell}
        onClick={() => {
          if (host.replaceCell?.(code, language) === true) {
            confirm('replaced');
          }
        }}
      />
    </>
  );
}

/** Highlighted code without buttons. */
export function Code(props: ICode): React.JSX.Element {
  const { code, language } = props;
  const { highlight } = useHost();
  const ref = React.useRef<HTMLElement>(null);
  const growing = React.useRef<ProgressiveHighlighter | null>(null);
  React.useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) {
      return;
    }
    const made = new ProgressiveHighlighter(element, (text, into) =>
      highlight(text, language, into)
    );
    growing.current = made;
    return () => made.dispose();
  }, [language, highlight]);
  React.useLayoutEffect(() => {
    growing.current?.show(code);
  }, [code, language, highlight]);
  return (
    <pre className="shoulders-Code-source" tabIndex={0}>
      <code ref={ref} />
    </pre>
  );
}
