/**
 * A notice above a notebook: recovered unsaved text, or a change of the agent that conflicted with the user's. One
 * notice for all offers of an author. Shown by the documents plugin until the user decides.
 */

import '../../style/ui/controls.css';
import '../../style/ui/diff.css';
import '../../style/documents/recovery-notice.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import type { IComparison, IRecoveryOffer } from '../live-documents/recovery';
import { DiffLines } from '../ui/viewers/Diff';
import { countChanges, diffLines } from '../text/diff';

/** Maximum height of a comparison in px; it scrolls. */
const TALLEST = 280;
const BORDER = 1;

/** The notice as a JupyterLab widget; it never takes the focus. */
export class RecoveryNotice extends ReactWidget {
  constructor(
    private offers: readonly IRecoveryOffer[],
    private readonly trans: TranslationBundle
  ) {
    super();
    this.addClass('shoulders-Recovery');
  }

  /** Replace the offers. */
  present(offers: readonly IRecoveryOffer[]): void {
    this.offers = offers;
    this.update();
  }

  override dispose(): void {
    this.sizes.disconnect();
    super.dispose();
  }

  protected override render(): React.JSX.Element {
    return (
      <div ref={this.measured}>
        <Notice offers={this.offers} trans={this.trans} />
      </div>
    );
  }

  /** The header of a notebook sizes its widgets by their style. */
  private readonly measured = (content: HTMLElement | null): void => {
    this.sizes.disconnect();
    if (content !== null) {
      this.sizes.observe(content);
    }
  };

  private readonly sizes = new ResizeObserver(([entry]) => {
    const height = Math.min(entry?.contentRect.height ?? 0, TALLEST);
    this.node.style.minHeight = `${Math.ceil(height) + BORDER}px`;
    if (this.parent !== null) {
      MessageLoop.postMessage(this.parent, Widget.Msg.FitRequest);
    }
  });
}

interface IProps {
  /** At least one, the oldest first. */
  readonly offers: readonly IRecoveryOffer[];
  readonly trans: TranslationBundle;
}

function Notice({ offers, trans }: IProps): React.JSX.Element {
  const [isCompared, setCompared] = React.useState(false);
  const ofUser = offers[0]?.author === 'user';
  const label = ofUser
    ? trans.__('Recovered changes')
    : trans.__('Changes by the agent');
  return (
    <section className="shoulders-Recovery-notice" aria-label={label}>
      <div className="shoulders-Recovery-line">
        <span className="shoulders-Recovery-text" role="status">
          {sentence(offers, trans)}
        </span>
        <button
          className="shoulders-Button"
          onClick={() => [...offers].forEach(offer => offer.restore())}
        >
          {ofUser ? trans.__('Restore') : trans.__('Apply')}
        </button>
        <button
          className="shoulders-Button"
          aria-expanded={isCompared}
          onClick={() => setCompared(!isCompared)}
        >
          {trans.__('Compare')}
        </button>
        <button
          className="shoulders-Button"
          onClick={() => [...offers].forEach(offer => offer.discard())}
        >
          {trans.__('Discard')}
        </button>
      </div>
      {isCompared && <Comparisons cells={comparisons(offers)} trans={trans} />}
    </section>
  );
}

function sentence(
  offers: readonly IRecoveryOffer[],
  trans: TranslationBundle
): string {
  const newest = offers.at(-1);
  const cells = new Set(comparisons(offers).map(({ id }) => id)).size;
  if (newest?.author === 'agent') {
    return trans._n(
      'The agent changed %1 cell that you changed too.',
      'The agent changed %1 cells that you changed too.',
      cells
    );
  }
  return trans._n(
    'Recovered unsaved changes from %2 (%1 cell)',
    'Recovered unsaved changes from %2 (%1 cells)',
    cells,
    moment(newest?.at ?? '')
  );
}

/** The changes the offers would make to each cell, without duplicates. */
function comparisons(offers: readonly IRecoveryOffer[]): IComparison[] {
  const known = new Map<string, IComparison>();
  for (const cell of offers.flatMap(offer => offer.compare())) {
    known.set(JSON.stringify([cell.id, cell.after]), cell);
  }
  return [...known.values()];
}

/** A time in the reader's locale, with the date unless it is today. */
function moment(at: string): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday
    ? time.toLocaleTimeString(undefined, { timeStyle: 'short' })
    : time.toLocaleString(undefined, {
        dateStyle: 'medium',
        timeStyle: 'short'
      });
}

function Comparisons(props: {
  cells: readonly IComparison[];
  trans: TranslationBundle;
}): React.JSX.Element {
  const { trans } = props;
  return (
    <div className="shoulders-Recovery-cells">
      {props.cells.map(({ id, number, before, after }) => {
        const lines = diffLines(before, after);
        const { added, removed } = countChanges(lines);
        return (
          <div key={`${id}-${after}`}>
            <div className="shoulders-Recovery-cell">
              {number === null
                ? trans.__('Deleted cell')
                : trans.__('Cell %1', number)}
            </div>
            <DiffLines
              lines={lines}
              label={trans.__('%1 lines added, %2 removed', added, removed)}
            />
          </div>
        );
      })}
    </div>
  );
}
