/**
 * Shows once, in the status bar, why there are no suggestions: errors such as a missing key, budget or provider are
 * otherwise silent. Used by `controller.ts` and `labProvider.ts`.
 */

import type { IStatusBar } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import { EXTENSION_ID } from '../tokens';
import type { CompletionEnd } from '../wire/generated';

/** Reasons the user can fix, and the settings section for each. */
const SETTINGS_SECTIONS = {
  no_key: 'providers',
  no_model: 'models',
  budget: 'budget',
  provider_down: 'providers'
} as const;

/** Next to the item with model and cost. */
const RANK = 6;

/** Services the hint needs. */
export interface IUnavailableHintParts {
  /** Null without a status bar. */
  readonly bar: IStatusBar | null;
  readonly trans: TranslationBundle;
  /** Open a section of the settings. */
  readonly open: (section: string) => void;
  /** Announce a text to screen readers. */
  readonly announce: (text: string) => void;
}

export class UnavailableHint {
  constructor(private readonly parts: IUnavailableHintParts) {}

  /**
   * Suggestions ended with this reason. Each reason is shown once, until suggestions work again or the hint is
   * clicked.
   */
  report({ reason, message }: CompletionEnd): void {
    if (reason === null) {
      this.hide();
    } else if (hasSection(reason) && !this.reportedReasons.has(reason)) {
      this.reportedReasons.add(reason);
      this.show(reason, message);
    }
  }

  private show(
    reason: keyof typeof SETTINGS_SECTIONS,
    message: string | null
  ): void {
    const { bar, trans, open, announce } = this.parts;
    const text = hintText(reason, trans);
    const told = visible(message === null ? text : serverText(trans, message)); // The message may come from a provider.
    this.hide();
    announce(told);
    const item = makeItem(text, told, () => {
      this.hide();
      open(SETTINGS_SECTIONS[reason]);
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

  private readonly reportedReasons = new Set<string>();
  private shown: IDisposable | null = null;
}

function hasSection(reason: string): reason is keyof typeof SETTINGS_SECTIONS {
  return reason in SETTINGS_SECTIONS;
}

function hintText(
  reason: keyof typeof SETTINGS_SECTIONS,
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
