/** HTML among the outputs of the cells a call ran: shown when asked for, in a frame of its own. Used by `CallDetail`. */

import * as React from 'react';

import { pagesOf } from '../model/pages';
import type { CallView } from '../wire/generated';
import { Disclosure } from './parts';
import { SandboxedPage } from './SandboxedPage';
import { useTrans } from './use';

export function OutputPages({ call }: { call: CallView }): React.JSX.Element {
  const trans = useTrans();
  return (
    <>
      {pagesOf(call).map((html, index) => (
        <Disclosure
          key={index}
          className="shoulders-Approval-arguments"
          summary={trans.__('As a page')}
        >
          {() => <SandboxedPage html={html} title={trans.__('Output')} />}
        </Disclosure>
      ))}
    </>
  );
}
