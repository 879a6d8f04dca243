/** HTML from somewhere as a page for a sandboxed frame. Used by the views that show such frames. */

import type { CallView, Json } from '../../wire/generated';

/** Nothing is loaded from anywhere and nothing runs. */
const NO_SCRIPTS =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; form-action 'none'; base-uri 'none'";

/**
 * What stands in the page runs; nothing is loaded, and no frame in it goes anywhere. A frame made of `srcdoc` has the
 * policy of the page around it, and where that frame may go is up to that policy too.
 */
const OWN_SCRIPTS =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:; style-src 'unsafe-inline'; font-src data:; frame-src 'none'; form-action 'none'; base-uri 'none'";

/** What leads elsewhere by itself, brings pages of its own, or hides elements from being tamed. */
const FORBIDDEN =
  'meta[http-equiv], base, script, iframe, frame, object, embed, portal, template, animate, set, link';
const WAY_OUT = /^(\w+:)?(href|action|formaction|ping)$/i;

/**
 * HTML for a frame without any permission (`sandbox=""`): its policy forbids every load, and its links lead nowhere,
 * because a click on one would replace the frame by a page of somebody's choice.
 */
export function staticPage(html: string): string {
  const page = new DOMParser().parseFromString(html, 'text/html');
  page.querySelectorAll(FORBIDDEN).forEach(element => element.remove());
  page.querySelectorAll('*').forEach(element => {
    for (const attribute of [...element.attributes]) {
      if (WAY_OUT.test(attribute.name)) {
        element.removeAttribute(attribute.name);
      }
    }
  });
  page.head.prepend(policy(page, NO_SCRIPTS));
  return `<!doctype html>${page.documentElement.outerHTML}`;
}

const FILLED =
  'html, body, iframe { width: 100%; height: 100%; margin: 0; border: 0; display: block; background: #fff; }';

/**
 * HTML whose scripts run, for a frame that may (`sandbox="allow-scripts"`): in a frame within, so that a script that
 * sends its frame to an address is stopped by the policy of the one around it.
 */
export function scriptedPage(html: string): string {
  const page = document.implementation.createHTMLDocument('');
  const style = page.createElement('style');
  style.append(FILLED);
  const frame = page.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.setAttribute('referrerpolicy', 'no-referrer');
  frame.setAttribute('srcdoc', html);
  page.head.prepend(policy(page, OWN_SCRIPTS), style);
  page.body.append(frame);
  return `<!doctype html>${page.documentElement.outerHTML}`;
}

function policy(page: Document, content: string): HTMLMetaElement {
  const element = page.createElement('meta');
  element.httpEquiv = 'Content-Security-Policy';
  element.content = content;
  return element;
}

/** An output of a cell as the notebook has it, where the text that the model read does not say it all. */
export type CallOutput =
  | { readonly kind: 'page'; readonly html: string }
  /** With the colours of a terminal. */
  | { readonly kind: 'terminal'; readonly text: string };

/** Pages and coloured text among the outputs of the cells a call ran; larger ones stay in the notebook. */
export function outputsOf(call: CallView): CallOutput[] {
  const data = call.result?.data;
  const outputs = isObject(data) ? data.outputs : null;
  return (Array.isArray(outputs) ? outputs : []).flatMap(output =>
    isObject(output) ? ofOutput(output) : []
  );
}

const LARGEST = 2_000_000;

function ofOutput(output: Record<string, Json>): CallOutput[] {
  const text = joined(output.text) || joined(output.traceback, '\n');
  if (text.includes('\u001b') && text.length <= LARGEST) {
    return [{ kind: 'terminal', text }];
  }
  const html = isObject(output.data) ? joined(output.data['text/html']) : '';
  return html === '' || html.length > LARGEST ? [] : [{ kind: 'page', html }];
}

/** Text of notebooks may come in lines; those of a traceback have no ends. */
function joined(text: Json | undefined, between = ''): string {
  if (!Array.isArray(text)) {
    return typeof text === 'string' ? text : '';
  }
  return text.filter(line => typeof line === 'string').join(between);
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
