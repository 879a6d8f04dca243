/** The pages an answer links to, each once with its full host: several, or those that its tools found. */

import * as React from 'react';

import { destinationOf } from '../../text/links';
import { legible, visible } from '../../text/hiddenCharacters';
import { sourcesIn, type ISource } from '../markdown/linkSources';
import { useLinkConfirmation } from '../markdown/useLinkConfirmation';
import { pagesOf } from '../../model/view-models/webSources';
import { useHost, useTabContext, useTrans } from '../../ui/hooks';

/** A single link needs no list, unless a tool found its page. */
const WORTH_LISTING = 2;

export const Sources = React.memo(function Sources(props: {
  text: string;
  /** Whether the answer also has a list of cited places. */
  hasCitations?: boolean;
}): React.JSX.Element | null {
  const trans = useTrans();
  const title =
    props.hasCitations === true ? trans.__('Links') : trans.__('Sources');
  const open = useLinkConfirmation();
  const { conversations, tab } = useTabContext();
  const sources = React.useMemo(() => {
    const messages = conversations.store(tab)?.view.messages ?? [];
    return sourcesIn(props.text, pagesOf(messages));
  }, [props.text, conversations, tab]);
  return sources.length < WORTH_LISTING &&
    !sources.some(source => source.isUsed) ? null : (
    <section
      className="shoulders-Sources"
      aria-label={title}
      onClick={open}
      onAuxClick={open}
    >
      <h4 className="shoulders-Sources-title">{title}</h4>
      <ol>
        {sources.map(source => (
          <li key={source.url.href}>
            <Source source={source} />
          </li>
        ))}
      </ol>
    </section>
  );
});

function Source({ source }: { source: ISource }): React.JSX.Element {
  const { Icon } = useHost();
  const { url, title } = source;
  return (
    <a
      className="shoulders-Source"
      href={url.href}
      target="_blank"
      rel="noopener noreferrer"
      title={visible(url.href)}
    >
      <Icon name="link" />
      <span className="shoulders-Source-title">{legible(title)}</span>
      <span className="shoulders-Markdown-host">
        {visible(destinationOf(url))}
      </span>
    </a>
  );
}
