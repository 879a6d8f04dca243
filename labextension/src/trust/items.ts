/** Facts about a folder's settings, for the bar of the chat panel and the review. */

import { visible } from '../text/hiddenCharacters';
import type { TrustItem } from '../wire/generated';

const ASCII = /^[\x20-\x7e]*$/;

/** Whether an item waits for a decision. */
export function isWaiting({ state }: TrustItem): boolean {
  return state === 'new' || state === 'changed';
}

/** A host with hidden characters made visible; with look-alike letters also in its ASCII form. */
export function hostText(host: string): string {
  const address = `https://${host}`;
  return ASCII.test(host) || !URL.canParse(address)
    ? visible(host)
    : `${visible(host)} (${new URL(address).host})`;
}
