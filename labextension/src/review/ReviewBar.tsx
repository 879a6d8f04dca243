/**
 * The bar at the foot of the lab: how many changes of the agent await a look, the way through them, and the
 * decision on all. Shown by the review plugin while there are any, unless the user put it away.
 */

import '../../style/controls.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { useSignal } from '../chat/use';
import type { Decision } from '../editor/hunks';
import { visible } from '../model/visible';
import { Icon } from '../plugins/icons';
import type { PendingEdit } from '../wire/generated';
import type { IReviewState, ReviewPage } from './page';
import type { IDocumentChanges } from './stops';

/** The most room the list of documents takes, in px; it scrolls. */
const TALLEST = 220;

/** What the bar can do beside what the review of the page does. */
export interface IBarActions {
  readonly trans: TranslationBundle;
  readonly hide: () => void;
}

/** The bar as a widget of the lab. */
export class ReviewBar extends ReactWidget {
  constructor(
    private readonly page: ReviewPage,
    private readonly actions: IBarActions
  ) {
    super();
    this.id = 'shoulders-review-bar';
    this.addClass('shoulders-Review');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', actions.trans.__('Changes by AI'));
  }

  override dispose(): void {
    this.sizes.disconnect();
    super.dispose();
  }

  protected override render(): React.JSX.Element {
    return (
      <div ref={this.measured}>
        <Bar page={this.page} actions={this.actions} />
      </div>
    );
  }

  /** The foot of the lab gives its widgets the room that their style asks for. */
  private readonly measured = (content: HTMLElement | null): void => {
    this.sizes.disconnect();
    if (content !== null) {
      this.sizes.observe(content);
    }
  };

  private readonly sizes = new ResizeObserver(([entry]) => {
    const height = Math.min(entry?.contentRect.height ?? 0, TALLEST);
    this.node.style.minHeight = `${Math.ceil(height) + 1}px`;
    if (this.parent !== null) {
      MessageLoop.postMessage(this.parent, Widget.Msg.FitRequest);
    }
  });
}

interface IProps {
  readonly page: ReviewPage;
  readonly actions: IBarActions;
}

function Bar({ page, actions }: IProps): React.JSX.Element {
  const { trans } = actions;
  const [open, setOpen] = React.useState(false);
  const state = useSignal(page.changed, () => page.state);
  const all = state.documents.flatMap(({ edits }) => edits);
  const count = useFocusAfterRows(state.documents.length);
  return (
    <>
      {open && <Documents page={page} state={state} trans={trans} />}
      <div className="shoulders-Review-line">
        <button
          ref={count}
          type="button"
          className="shoulders-Review-count"
          aria-expanded={open}
          title={trans.__('Show the files')}
          onClick={() => setOpen(!open)}
        >
          <Icon name="spark" />
          <span>{summary(state, trans)}</span>
          <Icon name={open ? 'caret-down' : 'caret-right'} />
        </button>
        <Steps page={page} state={state} trans={trans} />
        <Decisions
          page={page}
          edits={all}
          keep={trans.__('Keep all')}
          undo={trans.__('Undo all')}
        />
        <span className="shoulders-Review-room" />
        <button
          type="button"
          className="shoulders-IconButton"
          title={trans.__('Hide until there is more')}
          aria-label={trans.__('Hide until there is more')}
          onClick={actions.hide}
        >
          <Icon name="close" />
        </button>
      </div>
    </>
  );
}

/** The focus moves here from a line that is gone once its document was decided on. */
function useFocusAfterRows(rows: number): React.RefObject<HTMLButtonElement> {
  const button = React.useRef<HTMLButtonElement>(null);
  const before = React.useRef(rows);
  React.useLayoutEffect(() => {
    const isFewer = rows < before.current;
    before.current = rows;
    if (isFewer && document.activeElement === document.body) {
      button.current?.focus({ preventScroll: true });
    }
  }, [rows]);
  return button;
}

/** The way through the changes. */
function Steps(props: {
  page: ReviewPage;
  state: IReviewState;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { page, state, trans } = props;
  const { place, changes } = state;
  const step = (by: 1 | -1, label: string, sign: string) => (
    <button
      type="button"
      className="shoulders-IconButton"
      title={label}
      aria-label={label}
      onClick={() => page.run(() => page.step(by))}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  );
  return (
    <span className="shoulders-Review-steps">
      {step(-1, trans.__('Previous change'), '‹')}
      <span className="shoulders-Review-place">
        {place === 0
          ? trans.__('– of %1', changes)
          : trans.__('%1 of %2', place, changes)}
      </span>
      {step(1, trans.__('Next change'), '›')}
    </span>
  );
}

/** Keep and undo, of some edits. */
function Decisions(props: {
  page: ReviewPage;
  edits: readonly PendingEdit[];
  keep: string;
  undo: string;
  name?: string;
}): React.JSX.Element {
  const { page, edits, keep, undo, name } = props;
  const button = (decision: Decision, text: string) => (
    <button
      type="button"
      className={`shoulders-Button shoulders-mod-${decision}`}
      aria-label={name === undefined ? text : `${text}: ${name}`}
      onClick={() => page.run(() => page.decide(edits, decision))}
    >
      {text}
    </button>
  );
  return (
    <>
      {button('keep', keep)}
      {button('undo', undo)}
    </>
  );
}

/** The documents, also those that are closed. */
function Documents(props: {
  page: ReviewPage;
  state: IReviewState;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { page, state, trans } = props;
  return (
    <ul className="shoulders-Review-documents" aria-label={trans.__('Files')}>
      {state.documents.map(item => (
        <li key={item.document} className="shoulders-Review-document">
          <button
            type="button"
            className="shoulders-Review-open"
            title={visible(item.document)}
            onClick={() => page.run(() => page.open(item.document))}
          >
            <Icon name={iconOf(item)} />
            <span className="shoulders-Review-name">
              {visible(item.document)}
            </span>
          </button>
          <span className="shoulders-Review-changes">
            {trans._n('%1 change', '%1 changes', item.changes)}
          </span>
          <Decisions
            page={page}
            edits={item.edits}
            keep={trans.__('Keep')}
            undo={trans.__('Undo')}
            name={visible(item.document)}
          />
        </li>
      ))}
    </ul>
  );
}

function iconOf({ edits }: IDocumentChanges): 'notebook' | 'file' {
  return edits.some(({ cell_id }) => cell_id !== null) ? 'notebook' : 'file';
}

function summary(
  { changes, documents }: IReviewState,
  trans: TranslationBundle
): string {
  const files = trans._n('%1 file', '%1 files', documents.length);
  return trans._n('%1 change in %2', '%1 changes in %2', changes, files);
}
