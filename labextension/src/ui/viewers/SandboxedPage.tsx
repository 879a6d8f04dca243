/**
 * HTML of a model or tool in a frame without permissions. On request its scripts run in a frame that can reach neither
 * this page nor the network. See docs/design/security.md.
 */

import * as React from 'react';

import {
  scriptedPage,
  staticPage
} from '../../model/view-models/sandboxedHtml';
import { Button } from '../primitives';
import { useTrans } from '../hooks';

export function SandboxedPage(props: {
  html: string;
  title: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { html, title } = props;
  const [runs, setRuns] = React.useState(false);
  const page = React.useMemo(
    () => (runs ? scriptedPage(html) : staticPage(html)),
    [html, runs]
  );
  return (
    <div className="shoulders-SandboxedPage">
      <iframe
        // A new frame: the permissions of an existing one do not change.
        key={String(runs)}
        className="shoulders-Artifact-page"
        sandbox={runs ? 'allow-scripts' : ''}
        referrerPolicy="no-referrer"
        title={title}
        srcDoc={page}
      />
      {hasScripts(html) && (
        <div className="shoulders-SandboxedPage-bar">
          <span className="shoulders-Card-remark">
            {runs
              ? trans.__(
                  'Scripts run in an isolated frame without network access.'
                )
              : trans.__('Scripts are not running.')}
          </span>
          <Button onClick={() => setRuns(!runs)}>
            {runs ? trans.__('Stop scripts') : trans.__('Run scripts')}
          </Button>
        </div>
      )}
    </div>
  );
}

function hasScripts(html: string): boolean {
  return /<script|\son\w+\s*=/i.test(html);
}
