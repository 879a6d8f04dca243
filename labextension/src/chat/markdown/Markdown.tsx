/** Text of a model or tool as markdown; the only component that renders such text. */

import { Parser, type Token, type Tokens } from 'marked';
import * as React from 'react';

import { CodeBlock } from '../CodeBlock';
import { useHost } from '../use';
import { makeSplitter } from './blocks';
import { sanitise } from './sanitise';

/** Longer queries could carry text of the conversation. */
const SHORT_QUERY = 80;

/** Markdown that may still grow: only its last block is rendered again. */
export const Markdown = React.memo(function Markdown(props: {
  text: string;
}): React.JSX.Element {
  const [split] = React.useState(makeSplitter);
  const onClick = useCarefulLinks();
  return (
    <div className="shoulders-Markdown" onClick={onClick}>
      <Blocks tokens={split(props.text)} />
    </div>
  );
});

/** Asks before an address is opened that could carry much away. */
function useCarefulLinks(): (event: React.MouseEvent) => void {
  const { trans, confirm } = useHost();
  return event => {
    const { target } = event;
    const link = target instanceof Element ? target.closest('a') : null;
    if (link === null || link.search.length <= SHORT_QUERY) {
      return;
    }
    event.preventDefault();
    const { href } = link;
    void confirm(trans.__('Open this address?'), href, trans.__('Open')).then(
      sure => {
        if (sure) {
          window.open(href, '_blank', 'noopener,noreferrer');
        }
      }
    );
  };
}

function Blocks(props: { tokens: readonly Token[] }): React.JSX.Element {
  return (
    <>
      {props.tokens.map((token, index) => (
        // Blocks never move: one is only added at the end or changed in place.
        <Block key={index} token={token} />
      ))}
    </>
  );
}

interface IBlockProps {
  token: Token;
}

/** A block is what its source is. */
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
    before.token.type === after.token.type &&
    before.token.raw === after.token.raw
);

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
  React.useLayoutEffect(() => {
    place.current?.replaceChildren(sanitise(Parser.parse([token])));
  }, [token]);
  return <div className="shoulders-Markdown-block" ref={place} />;
}

function languageOf(info: string | undefined): string {
  return info?.trim().split(/\s+/, 1)[0] ?? '';
}
