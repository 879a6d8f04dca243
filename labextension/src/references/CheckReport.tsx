/** The report of a check: its findings by kind, each with the way to its place. */

import * as React from 'react';

import { visible } from '../text/hiddenCharacters';
import { serverText } from '../text/serverMessages';
import { useTrans } from '../ui/hooks';
import { Button } from '../ui/primitives';
import type { ReferenceCheck, ReferenceFinding } from '../wire/generated';

type Kind = ReferenceFinding['kind'];

export function CheckReport(props: {
  check: ReferenceCheck;
  goTo: (finding: ReferenceFinding) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { documents, findings, not_checked, references } = props.check;
  const kinds = [...new Set(findings.map(({ kind }) => kind))];
  return (
    <div
      className="shoulders-References-report"
      role="region"
      aria-label={trans.__('Report of the check')}
    >
      <p className="shoulders-References-quiet" role="status">
        {trans._n('%1 document', '%1 documents', documents)},{' '}
        {trans._n('%1 work', '%1 works', references)}.{' '}
        {findings.length === 0
          ? trans.__('No problems were found.')
          : trans._n('%1 problem', '%1 problems', findings.length)}
      </p>
      {not_checked !== '' && (
        <p className="shoulders-References-quiet">
          {visible(serverText(trans, not_checked))}
        </p>
      )}
      {kinds.map(kind => (
        <section key={kind}>
          <h3>
            <KindName kind={kind} />
          </h3>
          {findings
            .filter(finding => finding.kind === kind)
            .map((finding, at) => (
              <Finding key={at} finding={finding} goTo={props.goTo} />
            ))}
        </section>
      ))}
    </div>
  );
}

function Finding(props: {
  finding: ReferenceFinding;
  goTo: (finding: ReferenceFinding) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { key, line, message, path, url } = props.finding;
  const place =
    line === null
      ? visible(path)
      : trans.__('%1, line %2', visible(path), line);
  return (
    <div className="shoulders-References-finding">
      <div>
        {!message.includes(key) && <code>{visible(key)}</code>}{' '}
        {visible(serverText(trans, message))}
      </div>
      <div className="shoulders-References-actions">
        {path !== '' && (
          <Button
            label={trans.__('Go to %1', place)}
            title={place}
            onClick={() => props.goTo(props.finding)}
          >
            {trans.__('Go to')}
          </Button>
        )}
        {/^https?:\/\//.test(url) && (
          <a href={url} target="_blank" rel="noopener noreferrer">
            {visible(url)}
          </a>
        )}
      </div>
    </div>
  );
}

function KindName({ kind }: { kind: Kind }): React.JSX.Element {
  const trans = useTrans();
  const names: Record<Kind, string> = {
    missing: trans.__('Cited, but in no bibliography'),
    retracted: trans.__('Retracted'),
    corrected: trans.__('Corrected'),
    dead_doi: trans.__('DOI that does not exist'),
    duplicate: trans.__('Duplicates'),
    missing_field: trans.__('Missing fields'),
    unverified: trans.__('Not verified'),
    broken_entry: trans.__('Broken entries'),
    uncited: trans.__('Not cited')
  };
  return <>{names[kind]}</>;
}
