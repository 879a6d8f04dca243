/**
 * The control at a change: keep and undo; at the current change also its position, navigation and the list. Plain
 * elements, because CodeMirror and cells contain them. Used by `ReviewController`.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Decision } from '../editor/hunkDecorations';
import type { IStop } from './navigation';

/** The change of a pill. */
export interface IPillChange {
  readonly labels: IPillLabels;
  /** The change's current position; null when it no longer exists. */
  stop(): IStop | null;
  decide(decision: Decision): void;
}

/** Actions of a pill besides decisions. */
export interface IPillActions {
  /** Handle a decision. */
  decide(pill: ChangePill, decision: Decision): void;
  /** Navigate from its change; by keyboard the focus follows. */
  step(pill: ChangePill, by: 1 | -1, byKeyboard: boolean): void;
  showAll(): void;
  /** Return to the text. */
  focusText(): void;
}

/** Labels of the decisions; `undo` is null if the change cannot be undone. */
export interface IPillLabels {
  readonly keep: string;
  readonly undo: string | null;
  readonly keepTitle: string;
  readonly undoTitle: string;
}

export class ChangePill {
  constructor(
    private readonly trans: TranslationBundle,
    private readonly actions: IPillActions,
    readonly change: IPillChange
  ) {
    const { node, position } = this;
    node.className = 'shoulders-Pill';
    node.setAttribute('role', 'group');
    // Otherwise JupyterLab would handle Enter.
    node.dataset.lmSuppressShortcuts = 'true';
    // Keep the caret, and do not count a click as one on the cell.
    node.addEventListener('mousedown', event => {
      event.preventDefault();
      event.stopPropagation();
    });
    // Otherwise a notebook would focus its editor.
    node.addEventListener('focusin', event => event.stopPropagation());
    node.addEventListener('keydown', event => {
      event.stopPropagation();
      if (event.key === 'Escape') {
        actions.focusText();
      }
    });
    position.className = 'shoulders-Pill-place';
    const { keep, undo, keepTitle, undoTitle } = change.labels;
    node.append(
      this.step(-1, '‹', trans.__('Previous change')),
      position,
      this.step(1, '›', trans.__('Next change')),
      this.decision('keep', keep, keepTitle),
      ...(undo === null ? [] : [this.decision('undo', undo, undoTitle)]),
      this.all()
    );
    this.show(0, 0, false);
  }

  readonly node = document.createElement('div');

  /** Show the position among all changes, and whether this is the current one. */
  show(at: number, of: number, isCurrent: boolean): void {
    const { node, position, trans } = this;
    const text = `${at}/${of}`;
    if (position.textContent !== text) {
      position.textContent = text;
      node.setAttribute('aria-label', trans.__('Change %1 of %2', at, of));
    }
    node.classList.toggle('shoulders-mod-current', isCurrent);
  }

  /** Focus a navigation button. */
  focus(by: 1 | -1): void {
    const steps = this.node.querySelectorAll<HTMLElement>(
      '.shoulders-Pill-step'
    );
    steps[by === 1 ? 1 : 0]?.focus({ preventScroll: true });
  }

  private step(by: 1 | -1, sign: string, title: string): HTMLElement {
    const made = button('shoulders-Pill-step', sign, title);
    made.addEventListener('click', event =>
      this.actions.step(this, by, event.detail === 0)
    );
    return made;
  }

  private decision(
    decision: Decision,
    text: string,
    title: string
  ): HTMLElement {
    const name = `shoulders-Hunk-button shoulders-mod-${decision}`;
    const made = button(name, text, title);
    made.addEventListener('click', () => this.actions.decide(this, decision));
    return made;
  }

  private all(): HTMLElement {
    const made = button(
      'shoulders-Pill-all',
      '⋯',
      this.trans.__('All changes')
    );
    made.addEventListener('click', () => this.actions.showAll());
    return made;
  }

  private readonly position = document.createElement('span');
}

function button(name: string, text: string, title: string): HTMLElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = name;
  made.textContent = text;
  made.title = title;
  made.setAttribute('aria-label', title);
  return made;
}

/** All pills of the page: the change of each, and whether the current one is in view. */
export class ChangePills {
  constructor(
    private readonly trans: TranslationBundle,
    private readonly actions: IPillActions,
    /** Called when the current change's pill enters or leaves the view. */
    private readonly visibilityChanged: () => void,
    /** Called for each new pill. */
    private readonly pillAdded: () => void
  ) {}

  /** Whether the current change is out of view. */
  get isOutOfView(): boolean {
    return this.outOfView;
  }

  /** The pill of the current change, if drawn. */
  get current(): ChangePill | null {
    return this.front;
  }

  make(change: IPillChange): ChangePill {
    const pill = new ChangePill(this.trans, this.actions, change);
    this.pills.add(pill);
    this.pillAdded();
    return pill;
  }

  /** Number the pills. `placeOf` returns the position of a change, from 1. */
  number(
    placeOf: (stop: IStop | null) => number,
    current: number,
    total: number
  ): void {
    let front: ChangePill | null = null;
    for (const pill of this.pills) {
      if (!pill.node.isConnected) {
        this.pills.delete(pill);
        continue;
      }
      const place = placeOf(pill.change.stop());
      const isCurrent: boolean =
        front === null && place > 0 && place === current;
      pill.show(place, total, isCurrent);
      front = isCurrent ? pill : front;
    }
    this.watch(front);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.observer.disconnect();
    this.pills.clear();
  }

  private watch(front: ChangePill | null): void {
    if (this.front === front && front !== null) {
      return;
    }
    this.observer.disconnect();
    this.front = front;
    if (front === null) {
      this.setInView(false);
    } else {
      this.observer.observe(front.node);
    }
  }

  /** Leaving the view for a moment, as while a cell is drawn again, does not count. */
  private setInView(isInView: boolean): void {
    clearTimeout(this.timer);
    if (isInView !== this.outOfView) {
      return;
    }
    this.timer = setTimeout(
      () => {
        this.outOfView = !isInView;
        this.visibilityChanged();
      },
      isInView ? 0 : SETTLED
    );
  }

  private readonly observer = new IntersectionObserver(entries =>
    this.setInView(entries.at(-1)?.isIntersecting ?? false)
  );
  private readonly pills = new Set<ChangePill>();
  private front: ChangePill | null = null;
  private outOfView = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
}

/** Delay until a change counts as out of view, in ms. */
const SETTLED = 250;
