/** Opening a link of the agent: at once where it is harmless, else when the user has seen the whole address. */

import type * as React from 'react';

import { addressOf, destinationOf, needsAsking } from '../../text/links';
import { EMPTY } from '../../model/reducer/emptyConversation';
import { visible } from '../../text/hiddenCharacters';
import { useHost, useTabContext } from '../../ui/hooks';

/** Middle clicks too open a link. */
const PRIMARY = 0;
const MIDDLE = 1;

/** The handler of clicks on links. Asks before an address is opened that could carry much away, or that is not the user's. */
export function useLinkConfirmation(): (event: React.MouseEvent) => void {
  const { trans, confirm } = useHost();
  const { conversations, tab } = useTabContext();
  return event => {
    const url = addressOf(linkOf(event));
    const view = conversations.store(tab)?.view ?? EMPTY;
    if (url === null || !needsAsking(url, view)) {
      return;
    }
    event.preventDefault();
    void confirm(
      trans.__('Open %1?', visible(destinationOf(url))),
      visible(url.href),
      trans.__('Open')
    ).then(sure => {
      if (sure) {
        window.open(url.href, '_blank', 'noopener,noreferrer');
      }
    });
  };
}

/** The address of the link that a click opens; empty for every other click. */
function linkOf({ target, button }: React.MouseEvent): string {
  const opens = button === PRIMARY || button === MIDDLE;
  const link = opens && target instanceof Element ? target.closest('a') : null;
  return link?.getAttribute('href') ?? '';
}
