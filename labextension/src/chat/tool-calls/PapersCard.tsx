/** The works that a search of papers found, each with a button that adds it to the bibliography. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { addressOf, destinationOf } from '../../text/links';
import { visible } from '../../text/hiddenCharacters';
import { serverText } from '../../text/serverMessages';
import type { AddedReference, Paper } from '../../wire/generated';
import { useLinkConfirmation } from '../markdown/useLinkConfirmation';
import { useAction, useHost, useTrans } from '../../ui/hooks';
import { Badge, Button, Disclosure, ErrorNote } from '../../ui/primitives';

/** A longer list starts shortened. */
const MOST_SHOWN = 4;
const MOST_AUTHORS = 3;

export function PapersCard(props: {
  works: readonly Paper[];
}): React.JSX.Element | null {
  const trans = useTrans();
  const open = useLinkConfirmation();
  const { works } = props;
  const rest = works.slice(MOST_SHOWN);
  return works.length === 0 ? null : (
    <section
      className="shoulders-Papers"
      aria-label={trans.__('Papers')}
      onClick={open}
      onAuxClick={open}
    >
      <Works works={works.slice(0, MOST_SHOWN)} />
      {rest.length > 0 && (
        <Disclosure
          className="shoulders-Papers-more"
          summary={trans._n('%1 more', '%1 more', rest.length)}
        >
          {() => <Works works={rest} />}
        </Disclosure>
      )}
    </section>
  );
}

function Works({ works }: { works: readonly Paper[] }): React.JSX.Element {
  return (
    <ol>
      {works.map((work, index) => (
        <li key={index}>
          <Work work={work} />
        </li>
      ))}
    </ol>
  );
}

function Work({ work }: { work: Paper }): React.JSX.Element {
  const trans = useTrans();
  const title = visible(work.title);
  return (
    <article className="shoulders-Paper" aria-label={title}>
      <div className="shoulders-Paper-title">
        {work.url === null ? (
          <span>{title}</span>
        ) : (
          <PageLink url={work.url}>{title}</PageLink>
        )}
        {work.is_retracted && <Badge kind="bad">{trans.__('retracted')}</Badge>}
      </div>
      <div className="shoulders-Paper-facts">{factsOf(work, trans)}</div>
      <div className="shoulders-Paper-actions">
        {work.doi !== null && <AddButton doi={work.doi} title={title} />}
        {work.open_access_url !== null && (
          <PageLink url={work.open_access_url}>
            {trans.__('Free to read')}
          </PageLink>
        )}
      </div>
    </article>
  );
}

function factsOf(work: Paper, trans: TranslationBundle): string {
  const { authors, more_authors, year, venue, citations, type } = work;
  const named = authors.slice(0, MOST_AUTHORS).join(', ');
  const others = authors.length > MOST_AUTHORS || more_authors > 0;
  const facts = [
    others ? trans.__('%1 and others', named) : named,
    year === null ? '' : String(year),
    venue ?? type ?? '',
    citations === null
      ? ''
      : trans._n('cited once', 'cited %1 times', citations)
  ];
  return visible(facts.filter(fact => fact !== '').join(' · '));
}

/** A link with its full host; plain text where it is no web address. */
function PageLink(props: { url: string; children: string }): React.JSX.Element {
  const url = addressOf(props.url);
  return url === null ? (
    <span>{props.children}</span>
  ) : (
    <span>
      <a
        href={url.href}
        target="_blank"
        rel="noopener noreferrer"
        title={visible(url.href)}
      >
        {props.children}
      </a>{' '}
      <span className="shoulders-Markdown-host">
        ({visible(destinationOf(url))})
      </span>
    </span>
  );
}

function AddButton(props: { doi: string; title: string }): React.JSX.Element {
  const trans = useTrans();
  const { lookups } = useHost();
  const { busy, error, run } = useAction();
  const [added, setAdded] = React.useState<AddedReference | null>(null);
  return (
    <>
      {added !== null && (
        <span role="status" className="shoulders-Paper-added">
          {outcomeOf(added, trans)}
        </span>
      )}
      {!isThere(added) && (
        <Button
          label={trans.__('Add %1 to references', props.title)}
          disabled={busy}
          onClick={() =>
            run(async () => setAdded(await lookups.addReference(props.doi)))
          }
        >
          {busy ? trans.__('Adding…') : trans.__('Add to references')}
        </Button>
      )}
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** Whether the work is in the bibliography. */
function isThere(added: AddedReference | null): boolean {
  return added !== null && added.reference !== null;
}

function outcomeOf(added: AddedReference, trans: TranslationBundle): string {
  const { reference, status, reason } = added;
  if (reference === null) {
    return visible(serverText(trans, reason));
  }
  const key = visible(reference.key);
  return status === 'duplicate'
    ? trans.__('In your references as %1', key)
    : trans.__('Added as %1', key);
}
