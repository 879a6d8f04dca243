/**
 * Asks the user before something is done, over the panel: a page of widgets has no dialogs of its own. Used by
 * `createWidgetHost`.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

/** Ask; false when it was cancelled. */
export function confirm(
  within: Node,
  trans: TranslationBundle,
  words: { title: string; body: string; accept: string }
): Promise<boolean> {
  const dialog = document.createElement('dialog');
  dialog.className = 'shoulders-Dialog';
  dialog.setAttribute('aria-label', words.title);
  const title = document.createElement('h3');
  title.textContent = words.title;
  const body = document.createElement('p');
  body.textContent = words.body;
  const form = document.createElement('form');
  form.method = 'dialog';
  form.className = 'shoulders-Actions';
  form.append(
    button(trans.__('Cancel'), 'cancel', ''),
    button(words.accept, 'accept', 'shoulders-mod-primary')
  );
  dialog.append(title, body, form);
  within.appendChild(dialog);
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'accept');
    });
    dialog.showModal();
  });
}

function button(text: string, value: string, kind: string): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'submit';
  made.className = `shoulders-Button ${kind}`;
  made.value = value;
  made.textContent = text;
  return made;
}
