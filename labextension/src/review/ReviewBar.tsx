/**
 * The review bar over the documents: the number of pending changes, navigation, and the decision on all. Shown by the
 * review plugin while the current change is out of view, and on request.
 */

import '../../style/ui/controls.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { useSignal } from '../ui/hooks';
import type { Decision } from '../editor/hunkDecorations';
import { visible } from '../text/hiddenCharacters';
import { Icon } from '../lab/icons';
import type { PendingEdit } from '../wire/generated';
import type { ReviewController } from './controller';
import type { IReviewState } from './barState';
import type { IDocumentChanges } from './navigation';

/** Actions of the bar in addition to those of the review controller. */
export interface IBarActions {
  readonly trans: TranslationBundle;
  readonly hide: () => void;
}

export class ReviewBar extends ReactWidget {
  constructor(
    private readonly page: ReviewController,
    private readonly actions: IBarActions
  ) {
    super();
    this.id = 'shoulders-review-bar';
    this.addClass('shoulders-Review');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', actions.trans.__('Changes by AI'));
    // Keep the focus and the caret.
    this.node.addEventListener('mousedown', event => event.preventDefault());
  }

  protected override render(): React.JSX.Element {
    return <Bar page={this.page} actions={this.actions} />;
  }
}

interface IProps {
  readonly page: ReviewController;
  readonly actions: IBarActions;
}

function Bar({ page, actions }: IProps): React.JSX.Element {
  const { trans } = actions;
  const state = useSignal(page.changed, () => page.state);
  const { isListed } = state;
  const all = state.documents.flatMap(({ edits }) => edits);
  const count = useFocus(isListed, state.documents.length);
  return (
    <div
      className="shoulders-Review-content"
      data-lm-suppress-shortcuts="true"
      onKeyDown={event => {
        if (event.key === 'Escape' && isListed) {
          event.preventDefault();
          event.stopPropagation();
          page.list(false);
        }
      }}
    >
      {isListed && <Documents page={page} state={state} trans={trans} />}
      <div className="shoulders-Review-line">
        <button
          ref={count}
          type="button"
          className="shoulders-Review-count"
          aria-expanded={isListed}
          title={trans.__('Show the files')}
          onClick={() => page.list(!isListed)}
        >
          <Icon name="spark" />
          <span>{summary(state, trans)}</span>
          <Icon name={isListed ? 'caret-down' : 'caret-right'} />
        </button>
        <Steps page={page} state={state} trans={trans} />
        <Decisions
          page={page}
          edits={all}
          keep={trans.__('Keep all')}
          undo={trans.__('Undo all')}
        />
        <button
          type="button"
          className="shoulders-IconButton"
          title={trans.__('Hide until there are new changes')}
          aria-label={trans.__('Hide until there are new changes')}
          onClick={actions.hide}
        >
          <Icon name="close" />
        </button>
      </div>
    </div>
  );
}

/** Moves the focus to the opened list, and away from a document that was removed from it. */
function useFocus(
  isListed: boolean,
  rows: number
): React.RefObject<HTMLButtonElement> {
  const button = React.useRef<HTMLButtonElement>(null);
  const before = React.useRef({ isListed, rows });
  React.useEffect(() => {
    const isOpened = isListed && !before.current.isListed;
    const isFewer = rows < before.current.rows;
    before.current = { isListed, rows };
    if (isOpened || (isFewer && document.activeElement === document.body)) {
      button.current?.focus({ preventScroll: true });
    }
  }, [isListed, rows]);
  return button;
}

/** The navigation buttons. */
function Steps(props: {
  page: ReviewController;
  state: IReviewState;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { page, state, trans } = props;
  const { position, changes } = state;
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
      <span
        className="shoulders-Review-place"
        aria-label={trans.__('Change %1 of %2', position, changes)}
      >
        {`${position}/${changes}`}
      </span>
      {step(1, trans.__('Next change'), '›')}
    </span>
  );
}

/** Keep and undo for some edits. */
function Decisions(props: {
  page: ReviewController;
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

/** The documents, closed ones included. */
function Documents(props: {
  page: ReviewController;
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
