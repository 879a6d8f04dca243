/** A block of code with its language, a copy button and, where it could be a cell, an insert button. */

import * as React from 'react';

import { useHost } from './use';

const CELL_LANGUAGES = /^(python\d?|ipython|py|r|julia|jl|markdown|md|)$/i;

export const CodeBlock = React.memo(function CodeBlock(props: {
  code: string;
  language: string;
}): React.JSX.Element {
  const { trans, Icon, copy, insertBelow } = useHost();
  const [copied, setCopied] = React.useState(false);
  const onCopy = (): void => {
    copy(props.code);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div className="shoulders-Code">
      <div className="shoulders-Code-bar">
        <span className="shoulders-Code-language">{props.language}</span>
        {CELL_LANGUAGES.test(props.language) && (
          <button
            type="button"
            className="shoulders-IconButton"
            title={trans.__('Insert as cell below')}
            aria-label={trans.__('Insert as cell below')}
            onClick={() => insertBelow(props.code, props.language)}
          >
            <Icon name="insert" />
          </button>
        )}
        <button
          type="button"
          className="shoulders-IconButton"
          title={copied ? trans.__('Copied') : trans.__('Copy')}
          aria-label={copied ? trans.__('Copied') : trans.__('Copy')}
          onClick={onCopy}
        >
          <Icon name={copied ? 'check' : 'copy'} />
        </button>
      </div>
      <Code code={props.code} language={props.language} />
    </div>
  );
});

/** Highlighted code without buttons. */
export function Code(props: {
  code: string;
  language: string;
}): React.JSX.Element {
  const { code, language } = props;
  const { highlight } = useHost();
  const place = React.useRef<HTMLElement>(null);
  React.useLayoutEffect(() => {
    const element = place.current;
    if (element === null) {
      return;
    }
    element.textContent = code;
    let current = true;
    const paint = document.createElement('code');
    highlight(code, language, paint)
      .then(() => {
        if (current && paint.textContent === code) {
          element.replaceChildren(...paint.childNodes);
        }
      })
      .catch((error: unknown) => {
        console.warn(`No highlighting for ${language}:`, error);
      });
    return () => {
      current = false;
    };
  }, [code, language, highlight]);
  return (
    <pre className="shoulders-Code-source" tabIndex={0}>
      <code ref={place} />
    </pre>
  );
}
