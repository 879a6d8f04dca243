/**
 * Outputs of the cells a call ran, as the notebook has them: shown when asked for, text with its colours, HTML in a frame
 * of its own. Used by `CallDetail`.
 */

import * as React from 'react';

import { outputsOf } from '../../model/view-models/sandboxedHtml';
import type { CallView } from '../../wire/generated';
import { Disclosure } from '../../ui/primitives';
import { SandboxedPage } from '../../ui/SandboxedPage';
import { TerminalText } from '../../ui/TerminalText';
import { useTrans } from '../../ui/hooks';

export function CallOutputs(props: {
  call: CallView;
}): React.JSX.Element | null {
  const trans = useTrans();
  const outputs = outputsOf(props.call);
  return outputs.length === 0 ? null : (
    <Disclosure
      className="shoulders-Approval-arguments"
      summary={trans.__('As in the notebook')}
    >
      {() =>
        outputs.map((output, index) =>
          output.kind === 'page' ? (
            <SandboxedPage
              key={index}
              html={output.html}
              title={trans.__('Output')}
            />
          ) : (
            <TerminalText key={index} text={output.text} />
          )
        )
      }
    </Disclosure>
  );
}
