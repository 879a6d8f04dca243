/** The pages an answer links to, each once with its full host, if there are several. */

import * as React from 'react';

import { destinationOf } from '../../text/links';
import { legible, visible } from '../../text/hiddenCharacters';
import { sourcesIn, type ISource } from '../markdown/linkSources';
import { useLinkConfirmation } from '../markdown/useLinkConfirmation';
import { useHost, useTrans } from '../../ui/hooks';

/** A single link needs no list. */
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
  const sources = React.useMemo(() => sourcesIn(props.text), [props.text]);
  return sources.length < WORTH_LISTING ? null : (
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
