/** The conversation as a saved notebook has it, where no kernel answers: nothing in it can run or load. */

import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

/** The variables that the frame takes from the page around it. */
const TAKEN = [
  '--jp-ui-font-color1',
  '--jp-layout-color1',
  '--jp-ui-font-family',
  '--jp-ui-font-size1',
  '--jp-content-link-color'
];

export function Transcript(props: {
  html: string;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { html, trans } = props;
  const place = React.useRef<HTMLIFrameElement>(null);
  React.useLayoutEffect(() => {
    const { current } = place;
    if (current !== null) {
      current.srcdoc = page(html, getComputedStyle(current));
    }
  }, [html]);
  return (
    <iframe
      ref={place}
      className="shoulders-Widget-transcript"
      // No scripts, no origin, no forms.
      sandbox=""
      title={trans.__('Transcript of the conversation')}
      tabIndex={0}
    />
  );
}

/** A page that shows it and loads nothing from anywhere. */
export function page(
  html: string,
  style: Pick<CSSStyleDeclaration, 'getPropertyValue'>
): string {
  const variables = TAKEN.map(name => {
    // It stands in a style sheet: no end of it in a value.
    const value = style.getPropertyValue(name).replace(/[<>{};]/g, '');
    return `${name}:${value}`;
  }).join(';');
  return `<!doctype html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>:root{${variables}}
body{margin:8px 12px;overflow-wrap:anywhere;background:var(--jp-layout-color1);color:var(--jp-ui-font-color1);font:var(--jp-ui-font-size1)/1.5 var(--jp-ui-font-family)}
a{color:var(--jp-content-link-color)}pre{white-space:pre-wrap}</style>
${html}`;
}
