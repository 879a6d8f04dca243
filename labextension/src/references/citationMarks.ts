/**
 * Finds citations in rendered Markdown and puts a span around each. The document's source is not touched. Used by
 * `NotebookCitations` and the Markdown preview.
 */

import { findCitations } from '../text/citationSyntax';
import { clusterId, type Cluster } from './formatter';

const CLASS = 'shoulders-Citation';
/** Where text is no prose. */
const SKIPPED = `.${CLASS}, pre, code, kbd, samp, a, math, script, style, textarea, mjx-container, .MathJax`;
const ROLE_END = /\{cite[a-z]*(?::[a-z]+)?\}$/;

/** A citation that is shown. */
export interface ICitationSpan {
  readonly node: HTMLElement;
  readonly keys: Cluster;
  /** The text of the document. */
  readonly raw: string;
}

/** Put spans around the citations below a node that have none yet; bare keys only if they are known. */
export function markCitations(
  root: HTMLElement,
  isKnown: (key: string) => boolean
): readonly ICitationSpan[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode() !== null) {
    const text = walker.currentNode as Text; // SHOW_TEXT
    if (text.parentElement?.closest(SKIPPED) === null) {
      texts.push(text);
    }
  }
  return texts.flatMap(text => [...markRole(text), ...markText(text, isKnown)]);
}

/** Show the citations, by the text of each cluster. */
export function paintCitations(
  spans: readonly ICitationSpan[],
  texts: ReadonlyMap<string, string>,
  isKnown: (key: string) => boolean,
  unknownTitle: (keys: readonly string[]) => string
): void {
  for (const { node, keys, raw } of spans) {
    const unknown = keys.filter(key => !isKnown(key));
    const shown = texts.get(clusterId(keys)) ?? '';
    const text =
      unknown.length > 0 || shown === ''
        ? [shown, ...(shown === '' ? [raw] : unknown.map(key => `${key}?`))]
            .filter(Boolean)
            .join(' ')
        : shown;
    if (node.textContent !== text) {
      node.textContent = text;
    }
    node.classList.toggle('shoulders-mod-unknown', unknown.length > 0);
    node.title = unknown.length > 0 ? unknownTitle(unknown) : '';
  }
}

/** `{cite}` before inline code: Markdown's renderer has made code of the keys. */
function markRole(text: Text): readonly ICitationSpan[] {
  const role = ROLE_END.exec(text.data);
  const code = text.nextSibling;
  if (
    role === null ||
    !(code instanceof HTMLElement) ||
    code.tagName !== 'CODE'
  ) {
    return [];
  }
  const raw = `${role[0]}\`${code.textContent}\``;
  const [citation] = findCitations(raw);
  if (citation === undefined) {
    return [];
  }
  text.data = text.data.slice(0, role.index);
  const node = spanOf(raw);
  code.replaceWith(node);
  return [{ node, keys: citation.keys, raw }];
}

function markText(
  text: Text,
  isKnown: (key: string) => boolean
): readonly ICitationSpan[] {
  const { data } = text;
  if (!/[@\\]/.test(data)) {
    return [];
  }
  const found = findCitations(data).filter(
    ({ isBare, keys }) => !isBare || keys.every(isKnown)
  );
  // From the end, so that offsets before a change stay.
  return [...found]
    .reverse()
    .map(({ keys, start, end }) => {
      const raw = data.slice(start, end);
      const node = spanOf(raw);
      text.splitText(end);
      text.splitText(start).replaceWith(node);
      return { node, keys, raw };
    })
    .reverse();
}

function spanOf(raw: string): HTMLElement {
  const node = document.createElement('span');
  node.className = CLASS;
  node.tabIndex = 0;
  node.textContent = raw;
  return node;
}
