/**
 * Checks links written by the agent: their destination, and whether the user confirms before they open. Pure; used by
 * the markdown component and its sanitiser. See docs/design/security.md.
 */

import type { AgentView, Conversation } from '../wire/generated';
import { visible } from './hiddenCharacters';

/** A longer query could carry text of the conversation; in characters, with the fragment. */
const SHORT_QUERY = 80;

/** The same limit for the host and everything after it. */
const SHORT_PATH = 200;
const SHORT_HOST = 80;

/** Tools whose results are the agent's own words or the user's. */
const TRUSTED_TOOLS = new Set([
  ...['clarify', 'todo', 'complete', 'share_artifact'],
  ...['create_file', 'create_notebook']
]);

/** An address that can be opened; null for anything else. */
export function addressOf(href: string): URL | null {
  try {
    const url = new URL(href);
    return /^(?:https?|mailto):$/.test(url.protocol) ? url : null;
  } catch {
    return null; // Not an address.
  }
}

/** The text that names a link's destination: the host with its port, or the recipient of a mail. */
export function destinationOf(url: URL): string {
  return url.protocol === 'mailto:' ? url.pathname : url.host;
}

/**
 * Whether a link's text is an address on the destination host. A text that merely contains the host's name, or puts
 * another name before an `@`, is not.
 */
export function namesDestination(text: string, url: URL): boolean {
  const said = text.trim();
  if (visible(said) !== said) {
    return false;
  }
  if (url.protocol === 'mailto:') {
    return said === url.pathname;
  }
  if (url.username !== '' || url.password !== '') {
    return false;
  }
  const shown = addressOf(said) ?? addressOf(`${url.protocol}//${said}`);
  return shown !== null && shown.host === url.host && shown.username === '';
}

/** Whether the user sees a link's full address before it opens. */
export function needsConfirmation(url: URL, view: Conversation): boolean {
  return canLeakData(url) || isUntrusted(url, view);
}

/** Whether an address is long enough to leak data. */
function canLeakData({ host, pathname, search, hash }: URL): boolean {
  const query = search.length + hash.length;
  return (
    query > SHORT_QUERY ||
    pathname.length + query > SHORT_PATH ||
    host.length > SHORT_HOST
  );
}

/**
 * Whether an address may come from untrusted text: the agent has read tool results or attachments, and the user has
 * not written the address.
 */
function isUntrusted({ href }: URL, view: Conversation): boolean {
  return (
    view.messages.some(message =>
      message.role === 'agent'
        ? hasRead(message)
        : message.attachments.length > 0
    ) &&
    !view.messages.some(
      message => message.role === 'user' && containsAddress(message.text, href)
    )
  );
}

/** Whether a text contains an address, as browsers or people write it. */
function containsAddress(text: string, href: string): boolean {
  return text.split(/[\s<>"'`()[\]]+/).some(word => bare(word) === bare(href));
}

function bare(word: string): string {
  return word.replace(/^https?:\/\//i, '').replace(/[/.,;:!?]+$/, '');
}

function hasRead({ parts }: AgentView): boolean {
  return parts.some(
    part =>
      part.type === 'call' &&
      !TRUSTED_TOOLS.has(part.tool) &&
      (part.state === 'ok' || part.state === 'error')
  );
}
