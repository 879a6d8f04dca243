/**
 * Where a link of the agent leads, and whether the user is asked before it is opened (chapter 13). Pure; used by the
 * markdown component and its sanitiser.
 */

import type { AgentView, Conversation } from '../wire/generated';
import { visible } from './hiddenCharacters';

/** Longer queries could carry text of the conversation; in characters, with the fragment. */
const SHORT_QUERY = 80;

/** So could all that follows the host, and the host itself. */
const SHORT_PATH = 200;
const SHORT_HOST = 80;

/** Calls whose results are the agent's own words, or the user's. */
const OWN = new Set([
  ...['clarify', 'todo', 'complete', 'share_artifact'],
  ...['create_file', 'create_notebook']
]);

/** An address that can be opened; null for whatever else stands in a link. */
export function addressOf(href: string): URL | null {
  try {
    const url = new URL(href);
    return /^(?:https?|mailto):$/.test(url.protocol) ? url : null;
  } catch {
    return null; // Not an address: it leads nowhere.
  }
}

/** What a link's text must say: the whole host with its port, or whom a mail goes to. */
export function destinationOf(url: URL): string {
  return url.protocol === 'mailto:' ? url.pathname : url.host;
}

/**
 * Whether a link's text says itself where the link leads: it is an address of that host. A text which merely holds the
 * host's name, or puts another name before an `@`, does not.
 */
export function saysWhere(text: string, url: URL): boolean {
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

/** Whether the user sees a link's whole address before it is opened. */
export function needsAsking(url: URL, view: Conversation): boolean {
  return carriesMuch(url) || isStrange(url, view);
}

/** Whether an address could carry much away. */
function carriesMuch({ host, pathname, search, hash }: URL): boolean {
  const query = search.length + hash.length;
  return (
    query > SHORT_QUERY ||
    pathname.length + query > SHORT_PATH ||
    host.length > SHORT_HOST
  );
}

/**
 * Whether an address may have been put into the agent's mouth: it has read what tools brought, or what the user
 * attached, and the user has not written the address themselves.
 */
function isStrange({ href }: URL, view: Conversation): boolean {
  return (
    view.messages.some(message =>
      message.role === 'agent'
        ? hasRead(message)
        : message.attachments.length > 0
    ) &&
    !view.messages.some(
      message => message.role === 'user' && writes(message.text, href)
    )
  );
}

/** Whether a text holds an address, as browsers or as people write it. */
function writes(text: string, href: string): boolean {
  return text.split(/[\s<>"'`()[\]]+/).some(word => bare(word) === bare(href));
}

function bare(word: string): string {
  return word.replace(/^https?:\/\//i, '').replace(/[/.,;:!?]+$/, '');
}

function hasRead({ parts }: AgentView): boolean {
  return parts.some(
    part =>
      part.type === 'call' &&
      !OWN.has(part.tool) &&
      (part.state === 'ok' || part.state === 'error')
  );
}
