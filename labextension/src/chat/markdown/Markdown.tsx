/** Text of a model or tool as markdown; the only component that renders such text. */

import type { Token, Tokens } from 'marked';
import * as React from 'react';

import { CodeBlock } from '../CodeBlock';
import { makeSplitter } from './blocks';
import { DISPLAY, MATH, plain, toHtml } from './grammar';
import { sanitise } from './sanitise';
import { useCarefulLinks } from './useCarefulLinks';
import { useMathematics } from './useMathematics';
import { usePictures } from './usePictures';

/** Markdown that may still grow: only its last block is rendered again. */
export const Markdown = React.memo(function Markdown(props: {
  text: string;
}): React.JSX.Element {
  const [split] = React.useState(makeSplitter);
  const open = useCarefulLinks();
  return (
    <div className="shoulders-Markdown" onClick={open} onAuxClick={open}>
      <Blocks tokens={split(props.text)} />
    </div>
  );
});

/** Quotes and lists that are nested deeper stand as they were written: drawing them could end the stack. */
const DEEPEST = 32;

const DepthContext = React.createContext(0);

function Blocks(props: { tokens: readonly Token[] }): React.JSX.Element {
  const depth = React.useContext(DepthContext);
  return (
    <DepthContext.Provider value={depth + 1}>
      {props.tokens.map((token, index) => (
        // Blocks never move: one is only added at the end or changed in place.
        <Block key={index} token={depth < DEEPEST ? token : plain(token.raw)} />
      ))}
    </DepthContext.Provider>
  );
}

interface IBlockProps {
  token: Token;
}

/** A block is what its source is, and its source stays the same token. */
const Block = React.memo(
  function Block({ token }: IBlockProps): React.JSX.Element | null {
    switch (token.type) {
      case 'space':
      case 'def':
        return null;
      case 'code': {
        const { text, lang } = token as Tokens.Code; // marked's own tag
        return <CodeBlock code={text} language={languageOf(lang)} />;
      }
      case 'list':
        return <List list={token as Tokens.List} />; // marked's own tag
      case 'blockquote':
        return (
          <blockquote>
            <Blocks tokens={(token as Tokens.Blockquote).tokens} />
          </blockquote>
        );
      default:
        return <Html token={token} />;
    }
  },
  (before, after) =>
    before.token === after.token ||
    (before.token.type === after.token.type &&
      before.token.raw === after.token.raw &&
      !refers(after.token))
);

/** Whether the same source may mean something else: its references may be defined by now. */
function refers({ raw }: Token): boolean {
  return raw.includes('[');
}

function List({ list }: { list: Tokens.List }): React.JSX.Element {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? 'shoulders-Markdown-task' : ''}>
      {item.task && (
        <span
          className="shoulders-Markdown-check"
          role="checkbox"
          aria-checked={item.checked === true}
          aria-disabled
        />
      )}
      <Blocks tokens={item.tokens.filter(child => child.type !== 'checkbox')} />
    </li>
  ));
  return list.ordered ? (
    <ol start={list.start === '' ? 1 : list.start}>{items}</ol>
  ) : (
    <ul>{items}</ul>
  );
}

/** Everything else goes through HTML and the sanitiser. */
function Html({ token }: { token: Token }): React.JSX.Element {
  const place = React.useRef<HTMLDivElement>(null);
  const typeset = useMathematics();
  const show = usePictures();
  React.useLayoutEffect(() => {
    const element = place.current;
    if (element === null) {
      return;
    }
    element.replaceChildren(sanitise(toHtml(token)));
    for (const formula of element.querySelectorAll<HTMLElement>(`.${MATH}`)) {
      typeset(formula, formula.className === DISPLAY);
    }
    for (const picture of element.querySelectorAll('img')) {
      show(picture);
    }
  }, [token, typeset, show]);
  return (
    <div
      className="shoulders-Markdown-block"
      ref={place}
      // A wide table is scrolled by keyboard too.
      tabIndex={token.type === 'table' ? 0 : undefined}
    />
  );
}

function languageOf(info: string | undefined): string {
  return info?.trim().split(/\s+/, 1)[0] ?? '';
}
