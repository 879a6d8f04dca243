/** Wraps untrusted HTML as a page for a sandboxed frame. Used by the views that show such frames. */

import type { CallView, Json } from '../../wire/generated';

/** Forbids loads and scripts. */
const NO_SCRIPTS =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; form-action 'none'; base-uri 'none'";

/**
 * Allows inline scripts, forbids loads and navigation of inner frames. A `srcdoc` frame inherits the policy of the page
 * around it, which also decides where the frame may navigate.
 */
const OWN_SCRIPTS =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:; style-src 'unsafe-inline'; font-src data:; frame-src 'none'; form-action 'none'; base-uri 'none'";

/** Elements that navigate by themselves, embed pages, or hide content from the sanitiser. */
const FORBIDDEN =
  'meta[http-equiv], base, script, iframe, frame, object, embed, portal, template, animate, set, link';
const WAY_OUT = /^(\w+:)?(href|action|formaction|ping)$/i;

/**
 * HTML for a frame without permissions (`sandbox=""`). Its policy forbids all loads. Links are disabled, because a
 * click would replace the frame by a foreign page.
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
 * HTML with scripts, for a frame with `sandbox="allow-scripts"`. The HTML is in an inner frame, so that the outer
 * policy stops a script that navigates its frame.
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

/** An output of a cell as in the notebook, when the text for the model lacks something. */
export type CallOutput =
  | { readonly kind: 'page'; readonly html: string }
  /** Keeps terminal colours. */
  | { readonly kind: 'terminal'; readonly text: string };

/** Pages and coloured text in the outputs of the cells a call ran; large outputs are left out. */
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

/** Notebook text may be a list of lines; traceback lines have no newline. */
function joined(text: Json | undefined, between = ''): string {
  if (!Array.isArray(text)) {
    return typeof text === 'string' ? text : '';
  }
  return text.filter(line => typeof line === 'string').join(between);
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
