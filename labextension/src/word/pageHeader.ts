/** The line above a Word page: what the document contains and its buttons; and messages in place of it. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { WordPage } from '../wire/generated';

/** What the buttons do. */
export interface IHeaderActions {
  readonly reload: () => void;
  readonly download: () => void;
  readonly openReview: () => void;
}

export class PageHeader {
  constructor(
    private readonly trans: TranslationBundle,
    actions: IHeaderActions
  ) {
    const { node, summary } = this;
    node.className = 'shoulders-Word-header';
    node.setAttribute('role', 'group');
    node.setAttribute('aria-label', trans.__('Word document'));
    summary.className = 'shoulders-Word-summary';
    summary.setAttribute('role', 'status');
    this.review = button(trans.__('Open review'), actions.openReview);
    this.reload = button(trans.__('Reload'), actions.reload);
    this.hasReview = false;
    node.append(
      summary,
      this.review,
      this.reload,
      button(trans.__('Download'), actions.download)
    );
  }

  readonly node = document.createElement('div');

  /** Whether the agent's changes wait for review. */
  set hasReview(has: boolean) {
    this.review.hidden = !has;
  }

  /** Whether the document is being read. */
  set isBusy(busy: boolean) {
    this.reload.setAttribute('aria-busy', String(busy));
  }

  show({ tracked_changes, comments, truncated }: WordPage): void {
    const { trans } = this;
    const count = comments.length;
    const pieces = [
      tracked_changes > 0 &&
        trans._n('%1 tracked change', '%1 tracked changes', tracked_changes),
      count > 0 && trans._n('%1 comment', '%1 comments', count),
      trans.__('read-only'),
      truncated && trans.__('only the beginning is shown')
    ];
    this.write(pieces.filter(piece => piece !== false).join(' · '), false);
  }

  /** Show why the document could not be read again. */
  fail(message: string): void {
    this.write(message, true);
  }

  private write(text: string, isError: boolean): void {
    const { summary } = this;
    if (summary.textContent !== text) {
      summary.textContent = text;
    }
    summary.classList.toggle('shoulders-mod-error', isError);
  }

  private readonly summary = document.createElement('span');
  private readonly review: HTMLButtonElement;
  private readonly reload: HTMLButtonElement;
}

/** Show a message in place of the document. */
export function showMessage(
  body: HTMLElement,
  text: string,
  reason = ''
): void {
  const message = document.createElement('div');
  message.className = 'shoulders-Word-message';
  message.append(
    paragraph(text),
    ...(reason === '' ? [] : [paragraph(reason)])
  );
  body.replaceChildren(message);
}

function paragraph(text: string): HTMLElement {
  const made = document.createElement('p');
  made.textContent = text;
  return made;
}

function button(label: string, act: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'shoulders-Button';
  made.textContent = label;
  made.addEventListener('click', act);
  return made;
}
