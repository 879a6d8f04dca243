/**
 * A quiet notice above a notebook: unsaved text of a page that did not come back, or a change of
 * the agent that met one of the user. Shown by the documents plugin until it is decided on.
 */

import '../../style/controls.css';
import '../../style/diff.css';
import '../../style/recovery.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import type { IComparison, IRecoveryOffer } from '../bridge/recovery';
import { DiffLines } from '../chat/Diff';
import { countChanges, diffLines } from '../model/diff';

/** The most room a comparison takes of the notebook's, in px; it scrolls. */
const TALLEST = 280;
const BORDER = 1;

/** The notice as a widget of the lab; nothing in it takes the focus by itself. */
export class RecoveryNotice extends ReactWidget {
  constructor(
    private readonly offer: IRecoveryOffer,
    private readonly trans: TranslationBundle
  ) {
    super();
    this.addClass('shoulders-Recovery');
  }

  override dispose(): void {
    this.sizes.disconnect();
    super.dispose();
  }

  protected override render(): React.JSX.Element {
    return (
      <div ref={this.measured}>
        <Notice offer={this.offer} trans={this.trans} />
      </div>
    );
  }

  /** The header of a notebook gives its widgets the room that their style asks for. */
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
  readonly offer: IRecoveryOffer;
  readonly trans: TranslationBundle;
}

function Notice({ offer, trans }: IProps): React.JSX.Element {
  const [compared, setCompared] = React.useState<IComparison[] | null>(null);
  const compare = (): void =>
    setCompared(compared === null ? offer.compare() : null);
  const label = trans.__('Unsaved changes');
  return (
    <section className="shoulders-Recovery-notice" aria-label={label}>
      <div className="shoulders-Recovery-line">
        <span className="shoulders-Recovery-text" role="status">
          {sentence(offer, trans)}
        </span>
        <button className="shoulders-Button" onClick={() => offer.restore()}>
          {offer.author === 'user' ? trans.__('Restore') : trans.__('Take up')}
        </button>
        <button
          className="shoulders-Button"
          aria-expanded={compared !== null}
          onClick={compare}
        >
          {trans.__('Compare')}
        </button>
        <button className="shoulders-Button" onClick={() => offer.discard()}>
          {trans.__('Discard')}
        </button>
      </div>
      {compared !== null && <Comparisons cells={compared} trans={trans} />}
    </section>
  );
}

function sentence(offer: IRecoveryOffer, trans: TranslationBundle): string {
  const { at, author, count } = offer;
  if (author === 'agent') {
    return trans._n(
      'The agent changed one cell that was changed here too.',
      'The agent changed %1 cells that were changed here too.',
      count
    );
  }
  return trans._n(
    'Unsaved changes of %2 from a page that did not come back: one cell.',
    'Unsaved changes of %2 from a page that did not come back: %1 cells.',
    count,
    moment(at)
  );
}

/** A time in the reader's own way, with the day only when it is not today. */
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
          <div key={id}>
            <div className="shoulders-Recovery-cell">
              {number === null
                ? trans.__('A cell that is not here')
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
