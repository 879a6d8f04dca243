/** The chosen work and what can be done with it, below the list. */

import * as React from 'react';

import { visible } from '../text/hiddenCharacters';
import { serverText } from '../text/serverMessages';
import { useTrans } from '../ui/hooks';
import { Button } from '../ui/primitives';
import type { Reference } from '../wire/generated';
import type { IPanelHost } from './panelHost';

export function ReferenceDetails(props: {
  reference: Reference;
  host: IPanelHost;
}): React.JSX.Element {
  const trans = useTrans();
  const { reference, host } = props;
  const { doi, file, key, line, pdf, unverified, url } = reference;
  const address = doi === '' ? url : `https://doi.org/${encodeURI(doi)}`;
  return (
    <div
      className="shoulders-References-details"
      role="group"
      aria-label={trans.__('Selected work')}
    >
      {unverified !== '' && (
        <p className="shoulders-References-quiet">
          {visible(serverText(trans, unverified))}
        </p>
      )}
      <div className="shoulders-References-actions">
        <Button kind="primary" onClick={() => host.cite(reference)}>
          {trans.__('Cite')}
        </Button>
        <Button onClick={() => host.copy(key)}>{trans.__('Copy key')}</Button>
        {address !== '' && (
          <Button
            title={visible(address)}
            onClick={() => host.openAddress(address)}
          >
            {doi === '' ? trans.__('Open page') : trans.__('Open DOI')}
          </Button>
        )}
        {pdf !== '' && (
          <Button title={visible(pdf)} onClick={() => host.openFile(pdf, null)}>
            {trans.__('Open PDF')}
          </Button>
        )}
        {file !== '' && (
          <>
            <Button
              title={visible(file)}
              onClick={() => host.openFile(file, line)}
            >
              {trans.__('Show in file')}
            </Button>
            <Button onClick={() => host.remove(reference)}>
              {trans.__('Delete')}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
