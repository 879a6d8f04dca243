/**
 * The bar above a traceback: the cause in one line, *Fix & run* and *Ask*, then the progress of the fix. Its height
 * is constant, so that nothing moves. Made by `OutputBars`.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';

import type { FixStage } from './cellFix';
import type { ICause } from './errorCause';
import { causeText, failureText, lineText } from './fixMessages';

/** Actions of the bar. */
export interface IErrorBarActions {
  readonly fix: () => void;
  readonly cancel: () => void;
  readonly ask: () => void;
  /** Show the conversation of the fix. */
  readonly openConversation: () => void;
}

const NAME = 'shoulders-ErrorBar';

export class ErrorBar {
  constructor(
    private readonly cause: ICause,
    private readonly actions: IErrorBarActions,
    private readonly icon: LabIcon,
    private readonly trans: TranslationBundle
  ) {
    const { node, text, code, first, second } = this;
    node.className = `shoulders-OutputBar ${NAME}`;
    node.setAttribute('role', 'group');
    node.setAttribute('aria-label', trans.__('Error'));
    text.className = `${NAME}-text`;
    code.className = `${NAME}-code`;
    code.textContent = lineText(cause, trans);
    code.title = code.textContent;
    first.type = second.type = 'button';
    first.addEventListener('click', () => this.act(0));
    second.addEventListener('click', () => this.act(1));
    const buttons = document.createElement('span');
    buttons.className = `${NAME}-buttons`;
    buttons.append(first, second);
    node.append(text, buttons, code);
    node.addEventListener('keydown', event => {
      if (event.key === 'Escape' && this.isBusy) {
        event.preventDefault();
        this.actions.cancel();
      }
    });
    this.show(null);
  }

  readonly node = document.createElement('div');

  /** Show the stage of the fix; null without one. */
  show(stage: FixStage | null): void {
    const { trans, cause, node, text } = this;
    this.isBusy = stage?.kind === 'writing';
    node.classList.toggle('shoulders-mod-failed', stage?.kind === 'failed');
    node.setAttribute(
      'aria-busy',
      String(stage !== null && stage.kind !== 'failed')
    );
    if (stage?.kind === 'failed') {
      text.textContent = failureText(stage.failure, trans);
      text.setAttribute('role', 'alert');
    } else {
      text.removeAttribute('role');
      text.textContent =
        stage === null ? causeText(cause) : this.progress(stage);
    }
    text.title = text.textContent;
    this.buttons(stage);
  }

  focus(): void {
    this.first.focus({ preventScroll: true });
  }

  private progress(stage: Exclude<FixStage, { kind: 'failed' }>): string {
    const { trans } = this;
    if (stage.kind === 'running') {
      return trans.__('Running the cell…');
    }
    return stage.retrying
      ? trans.__('The provider is busy. Trying again…')
      : trans.__('Writing the fix…');
  }

  private buttons(stage: FixStage | null): void {
    const { trans, actions } = this;
    const fix: Choice = [trans.__('Fix & run'), actions.fix];
    const ask: Choice = [trans.__('Ask'), actions.ask];
    const talk: Choice = [trans.__('Show in chat'), actions.openConversation];
    if (stage === null) {
      this.choices = [fix, ask];
    } else if (stage.kind === 'writing') {
      this.choices = [[trans.__('Stop'), actions.cancel]];
    } else if (stage.kind === 'running') {
      this.choices = [];
    } else if (stage.failure.kind === 'obstacle') {
      this.choices = [ask];
    } else if (stage.failure.kind === 'paused') {
      this.choices = [talk];
    } else {
      this.choices = [[trans.__('Try again'), actions.fix], talk];
    }
    [this.first, this.second].forEach((button, index) => {
      const choice = this.choices[index];
      button.className = 'shoulders-OutputBar-button';
      button.style.display = choice === undefined ? 'none' : '';
      button.textContent = choice?.[0] ?? '';
      if (stage === null && index === 0) {
        button.classList.add('shoulders-mod-primary');
        button.prepend(this.icon.element({ tag: 'span' }));
      }
    });
    this.first.title = this.isBusy
      ? trans.__('Stop (Esc)')
      : stage === null
        ? trans.__('Fix this cell and run it once; you can undo the change')
        : '';
  }

  private act(index: number): void {
    this.choices[index]?.[1]();
  }

  private readonly text = document.createElement('span');
  private readonly code = document.createElement('code');
  private readonly first = document.createElement('button');
  private readonly second = document.createElement('button');
  private choices: readonly Choice[] = [];
  private isBusy = false;
}

type Choice = readonly [label: string, act: () => void];
