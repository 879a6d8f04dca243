/**
 * Says once, in the status bar, why there are no suggestions: without a key, a budget or a provider they are silent
 * (chapter 10). Used by `controller.ts` and `labProvider.ts`.
 */

import type { IStatusBar } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import { EXTENSION_ID } from '../tokens';
import type { CompletionEnd } from '../wire/generated';

/** Reasons that somebody can do something about, and the part of the settings where. */
const PLACES = {
  no_key: 'providers',
  no_model: 'models',
  budget: 'budget',
  provider_down: 'providers'
} as const;

/** Beside the item of model and cost. */
const RANK = 6;

/** What the hint needs of the lab. */
export interface IUnavailableHintParts {
  /** Null where there is none. */
  readonly bar: IStatusBar | null;
  readonly trans: TranslationBundle;
  /** Open a part of the settings. */
  readonly open: (section: string) => void;
  /** For screen readers. */
  readonly say: (text: string) => void;
}

/** The one hint of the page. */
export class UnavailableHint {
  constructor(private readonly parts: IUnavailableHintParts) {}

  /** Suggestions ended so. Each reason is told once; it goes when there are suggestions again, or when it is clicked. */
  tell({ reason, message }: CompletionEnd): void {
    if (reason === null) {
      this.hide();
    } else if (hasPlace(reason) && !this.told.has(reason)) {
      this.told.add(reason);
      this.show(reason, message);
    }
  }

  private show(reason: keyof typeof PLACES, message: string | null): void {
    const { bar, trans, open, say } = this.parts;
    const text = hintText(reason, trans);
    const told = visible(message === null ? text : serverText(trans, message)); // It may be in the words of a provider.
    this.hide();
    say(told);
    const item = makeItem(text, told, () => {
      this.hide();
      open(PLACES[reason]);
    });
    this.shown =
      bar?.registerStatusItem(`${EXTENSION_ID}:ghost-hint`, {
        item,
        align: 'right',
        rank: RANK
      }) ?? null;
  }

  private hide(): void {
    this.shown?.dispose();
    this.shown = null;
  }

  private readonly told = new Set<string>();
  private shown: IDisposable | null = null;
}

function hasPlace(reason: string): reason is keyof typeof PLACES {
  return reason in PLACES;
}

function hintText(
  reason: keyof typeof PLACES,
  trans: TranslationBundle
): string {
  switch (reason) {
    case 'no_key':
      return trans.__('No AI suggestions: no key');
    case 'no_model':
      return trans.__('No AI suggestions: no model');
    case 'budget':
      return trans.__('No AI suggestions: budget used up');
    case 'provider_down':
      return trans.__('No AI suggestions: provider not responding');
    default:
      return reason satisfies never;
  }
}

function makeItem(text: string, title: string, act: () => void): Widget {
  const item = new Widget();
  item.addClass('shoulders-StatusItem');
  item.addClass('shoulders-GhostHint');
  const button = document.createElement('button');
  const words = document.createElement('span');
  button.type = 'button';
  button.title = title;
  words.textContent = text;
  button.append(words);
  button.addEventListener('click', act);
  item.node.append(button);
  return item;
}
