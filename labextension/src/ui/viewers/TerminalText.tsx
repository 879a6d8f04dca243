/** Program output with its terminal colours and weights; other control sequences have no effect. */

import * as React from 'react';

import { PLAIN, runsOf, type ITextStyle } from '../../text/ansi';
import { visible } from '../../text/hiddenCharacters';

export const TerminalText = React.memo(function TerminalText(props: {
  text: string;
}): React.JSX.Element {
  const runs = React.useMemo(() => runsOf(props.text), [props.text]);
  return (
    <pre className="shoulders-Plain shoulders-Terminal" tabIndex={0}>
      {runs.map(({ text, style }, index) =>
        style === PLAIN ? (
          visible(text)
        ) : (
          <span key={index} className={classOf(style)}>
            {visible(text)}
          </span>
        )
      )}
    </pre>
  );
});

const FLAGS = ['bold', 'dim', 'italic', 'underline', 'inverse'] as const;

function classOf(look: ITextStyle): string {
  const { ink, paper } = look;
  return [
    ...FLAGS.filter(flag => look[flag]).map(flag => `shoulders-mod-${flag}`),
    // Inverted text uses the page's colours to stay legible.
    ...(ink === null || look.inverse
      ? []
      : ['shoulders-Ink', `shoulders-mod-ink-${ink}`]),
    ...(paper === null || look.inverse
      ? []
      : ['shoulders-Paper', `shoulders-mod-paper-${paper}`])
  ].join(' ');
}
