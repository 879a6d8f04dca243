/** Says that the folder brings AI settings that wait for the user's answer, with the way to the review. */

import * as React from 'react';

import type { IFolderTrust } from '../host/folderTrust';
import { trustSentence } from '../trust/summary';
import { Button } from '../ui/primitives';
import {
  focusComposer,
  useRestoreFocus,
  useHost,
  useSignalVersion,
  useTrans
} from '../ui/hooks';

export function FolderTrustBar(): React.JSX.Element | null {
  const { folderTrust } = useHost();
  return folderTrust === null ? null : <Announced trust={folderTrust} />;
}

function Announced({
  trust
}: {
  trust: IFolderTrust;
}): React.JSX.Element | null {
  useSignalVersion(trust.changed);
  React.useEffect(() => trust.view.want(), [trust]);
  return trust.announced.length === 0 ? null : <Bar trust={trust} />;
}

function Bar({ trust }: { trust: IFolderTrust }): React.JSX.Element {
  const trans = useTrans();
  const { reviewFolder } = useHost();
  const place = useRestoreFocus<HTMLElement>();
  return (
    <section
      className="shoulders-TrustBar"
      aria-label={trans.__('This folder’s settings')}
      ref={place}
    >
      <span className="shoulders-TrustBar-text" role="status">
        {trustSentence(trust.announced, trans)}
      </span>
      <div className="shoulders-TrustBar-actions">
        <Button onClick={reviewFolder}>{trans.__('Review…')}</Button>
        <Button
          onClick={() => {
            trust.dismiss();
            focusComposer();
          }}
        >
          {trans.__('Not now')}
        </Button>
      </div>
    </section>
  );
}
