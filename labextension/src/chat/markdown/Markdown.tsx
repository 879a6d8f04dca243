/** Markdown of a model or tool; the only component that renders such text. */

import type { Token, Tokens } from 'marked';
import * as React from 'react';

import { CodeBlock } from '../../ui/viewers/CodeBlock';
import { useNearby } from '../../ui/paged-list/useNearby';
import { makeSplitter, type Splitter } from './blocks';
import { plain } from './grammar';
import { Html } from './Html';
import { Table } from './Table';
import { useTrans } from '../../ui/hooks';
import { useLinkConfirmation } from './useLinkConfirmation';

/** Markdown that may still grow: only its last block renders again. */
export const Markdown = React.memo(function Markdown(props: {
  text: string;
  /** A splitter shared with other readers of the text, so that it is parsed once. */
  splitter?: Splitter | undefined;
}): React.JSX.Element {
  const [ownSplitter] = React.useState(makeSplitter);
  const split = props.splitter ?? ownSplitter;
  const open = useLinkConfirmation();
  return (
    <div className="shoulders-Markdown" onClick={open} onAuxClick={open}>
      {groupsOf(split(props.text)).map((tokens, index, { length }) => (
        <Group key={index} tokens={tokens} isLast={index === length - 1} />
      ))}
    </div>
  );
});

/** Blocks per group. Of a long text only the last group is compared, and distant groups are not rendered. */
const GROUP_SIZE = 40;

/** Height of a block that was never rendered, in px. */
const BLOCK_HEIGHT = 40;

function groupsOf(tokens: readonly Token[]): (readonly Token[])[] {
  const groups: (readonly Token[])[] = [];
  for (let start = 0; start < tokens.length; start += GROUP_SIZE) {
    groups.push(tokens.slice(start, start + GROUP_SIZE));
  }
  return groups;
}

const Group = React.memo(
  function Group(props: {
    tokens: readonly Token[];
    isLast: boolean;
  }): React.JSX.Element {
    const { tokens, isLast } = props;
    const guess = tokens.length * BLOCK_HEIGHT;
    const { place, shown, height } = useNearby(isLast, guess);
    return (
      <div
        className="shoulders-Markdown-group"
        ref={place}
        style={shown ? undefined : { height }}
      >
        {shown && <Blocks tokens={tokens} />}
      </div>
    );
  },
  (before, after) =>
    before.isLast === after.isLast &&
    before.tokens.length === after.tokens.length &&
    before.tokens.every((token, index) => token === after.tokens[index])
);

/** Deeper quotes and lists stay source text, because rendering them could overflow the stack. */
const MAX_DEPTH = 32;

const DepthContext = React.createContext(0);

function Blocks(props: { tokens: readonly Token[] }): React.JSX.Element {
  const depth = React.useContext(DepthContext);
  return (
    <DepthContext.Provider value={depth + 1}>
      {props.tokens.map((token, index) => (
        // Blocks never move: they are appended or changed in place.
        <Block
          key={index}
          token={depth < MAX_DEPTH ? token : plain(token.raw)}
        />
      ))}
    </DepthContext.Provider>
  );
}

interface IBlockProps {
  token: Token;
}

/** Compares sources, because a block with the same source keeps its token. */
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
      case 'table':
        return <Table table={token as Tokens.Table} />; // marked's own tag
      default:
        return <Html token={token} />;
    }
  },
  (before, after) => isSame(before.token, after.token)
);

/** Whether two blocks are equal; blocks with references may resolve differently. */
function isSame(one: Token, other: Token): boolean {
  return (
    one === other ||
    (one.type === other.type &&
      one.raw === other.raw &&
      !other.raw.includes('['))
  );
}

function List({ list }: { list: Tokens.List }): React.JSX.Element {
  const items = list.items.map((item, index) => (
    <Item key={index} item={item} />
  ));
  return list.ordered ? (
    <ol start={list.start === '' ? 1 : list.start}>{items}</ol>
  ) : (
    <ul>{items}</ul>
  );
}

const Item = React.memo(
  function Item({ item }: { item: Tokens.ListItem }): React.JSX.Element {
    const trans = useTrans();
    return (
      <li className={item.task ? 'shoulders-Markdown-task' : ''}>
        {item.task && (
          <span
            className="shoulders-Markdown-check"
            role="checkbox"
            aria-label={trans.__('Task')}
            aria-checked={item.checked === true}
            aria-disabled
          />
        )}
        <Blocks
          tokens={item.tokens.filter(child => child.type !== 'checkbox')}
        />
      </li>
    );
  },
  (before, after) => isSame(before.item, after.item)
);

function languageOf(info: string | undefined): string {
  return info?.trim().split(/\s+/, 1)[0] ?? '';
}
