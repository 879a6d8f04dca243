/** The parts of a request, expandable, as the plain text that is sent. Used by `RequestSheet` and the settings. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { formatTokens } from '../../text/numberFormat';
import { visible } from '../../text/hiddenCharacters';
import type {
  AssistantMessage,
  RequestView,
  UserMessage
} from '../../wire/generated';
import { Disclosure } from '../primitives';
import { useTrans } from '../hooks';

type ModelMessage = UserMessage | AssistantMessage;
type Part = ModelMessage['parts'][number];

/** Characters of a part shown beside its name. */
const MAX_PREVIEW = 120;

export function RequestBody(props: {
  request: Pick<RequestView, 'system' | 'messages' | 'tools'> &
    Partial<Pick<RequestView, 'memory'>>;
  /** Other parts of the request. */
  more?: readonly { readonly name: string; readonly text: string }[];
}): React.JSX.Element {
  const trans = useTrans();
  const { system, messages, tools, memory = [] } = props.request;
  const definitions = tools.map(tool => JSON.stringify(tool, null, 2));
  return (
    <ol className="shoulders-Request">
      <Piece name={trans.__('System prompt')} text={system} />
      {messages.map((message, index) => (
        <Piece
          key={index}
          name={
            message.role === 'user'
              ? trans.__('%1. To the model', index + 1)
              : trans.__('%1. From the model', index + 1)
          }
          text={textOf(message, trans)}
          pictures={picturesOf(message)}
        />
      ))}
      <Piece
        name={trans._n('%1 tool', '%1 tools', tools.length)}
        text={definitions.join('\n')}
        glance={tools.map(({ name }) => name).join(', ')}
      />
      {memory.length > 0 && (
        <Piece
          name={trans._n(
            'Includes %1 statement of your memory',
            'Includes %1 statements of your memory',
            memory.length
          )}
          text={memory.map(({ id, text }) => `${id}: ${text}`).join('\n')}
          glance={memory.map(({ text }) => text).join(' · ')}
        />
      )}
      {props.more?.map(({ name, text }) => (
        <Piece key={name} name={name} text={text} />
      ))}
    </ol>
  );
}

function Piece(props: {
  name: string;
  text: string;
  glance?: string;
  pictures?: readonly string[];
}): React.JSX.Element {
  const trans = useTrans();
  const { name, text, pictures } = props;
  const glance = props.glance ?? text;
  return (
    <li>
      <Disclosure
        className="shoulders-Request-piece"
        summary={
          <>
            <span className="shoulders-Request-name">{name}</span>
            <span className="shoulders-Request-glance">
              {visible(glance.slice(0, MAX_PREVIEW))}
            </span>
            <span className="shoulders-Request-size">
              {trans.__('%1 chars', formatTokens(text.length))}
            </span>
          </>
        }
      >
        {() => (
          <>
            <pre className="shoulders-Plain" tabIndex={0}>
              {visible(text)}
            </pre>
            {pictures?.map((source, index) => (
              <img
                key={index}
                className="shoulders-Request-picture"
                src={source}
                alt={trans.__('Attached image')}
              />
            ))}
          </>
        )}
      </Disclosure>
    </li>
  );
}

function textOf({ parts }: ModelMessage, trans: TranslationBundle): string {
  return parts.map((part: Part) => partText(part, trans)).join('\n\n');
}

function partText(part: Part, trans: TranslationBundle): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'image':
      return trans.__('[Image: %1]', part.media_type);
    case 'tool-call':
      return `${part.tool}(${JSON.stringify(part.arguments, null, 2)})`;
    case 'tool-result':
      return part.content.map(content => partText(content, trans)).join('\n');
  }
}

function picturesOf({ parts }: ModelMessage): string[] {
  const shown: readonly Part[] = parts;
  return shown.flatMap(part =>
    part.type === 'image' && /^image\/[a-z]+$/.test(part.media_type)
      ? [`data:${part.media_type};base64,${part.data}`]
      : []
  );
}
