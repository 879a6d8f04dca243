/** The quick-pick of search: a field, the places found, and what to do with them. Shown by `QuickPickWidget`. */

import '../../style/chat/panel.css';
import '../../style/ui/controls.css';
import '../../style/chat/cards.css';
import '../../style/search/quick-pick.css';

import * as React from 'react';

import { useSignal, useTrans, useView, ViewContext } from '../ui/hooks';
import type { IViewHost } from '../ui/hooks';
import type { SearchMatch } from '../wire/generated';
import { optionId, ResultList } from './ResultList';
import { SearchMessage } from './SearchMessage';
import { isBlank, moveOf, type ISearchState } from './searchState';
import type { SearchStore } from './searchStore';

/** What the quick-pick needs of the page. */
export interface IQuickPickHost extends IViewHost {
  /** The icon of a file by its type. */
  readonly FileIcon: (props: { path: string }) => React.JSX.Element;
  /** Open a document at a place and close the quick-pick. */
  readonly open: (match: SearchMatch) => void;
  /** Attach places to the message in the chat's input and close the quick-pick. */
  readonly attach: (matches: readonly SearchMatch[]) => void;
  /** Show the search settings and close the quick-pick. */
  readonly openSettings: () => void;
}

export function QuickPick(props: {
  store: SearchStore;
  host: IQuickPickHost;
}): React.JSX.Element {
  const { store, host } = props;
  const state = useSignal(store.changed, () => store.state);
  const list = React.useId();
  return (
    <ViewContext.Provider value={host}>
      <div className="shoulders-Search">
        <Field list={list} state={state} store={store} host={host} />
        <SearchMessage
          state={state}
          openSettings={host.openSettings}
          retry={() => store.refresh()}
        />
        <ResultList
          id={list}
          state={state}
          FileIcon={host.FileIcon}
          onPoint={index => store.dispatch({ type: 'point', index })}
          onPick={(match, attaches) =>
            attaches ? host.attach([match]) : host.open(match)
          }
        />
        <Footer state={state} attach={host.attach} />
        {state.meaning === 'consent' && (
          <MeaningNote openSettings={host.openSettings} />
        )}
      </div>
    </ViewContext.Provider>
  );
}

function Field(props: {
  list: string;
  state: ISearchState;
  store: SearchStore;
  host: IQuickPickHost;
}): React.JSX.Element {
  const trans = useTrans();
  const { Icon } = useView();
  const { list, state, store, host } = props;
  const count = state.matches.length;
  return (
    <div className="shoulders-Search-field">
      <Icon name="search" />
      <input
        role="combobox"
        aria-label={trans.__('Search the workspace')}
        aria-autocomplete="list"
        aria-expanded={count > 0}
        aria-controls={list}
        aria-activedescendant={
          count > 0 ? optionId(list, state.active) : undefined
        }
        placeholder={trans.__('Search notebooks and files')}
        spellCheck={false}
        autoComplete="off"
        value={state.query}
        onChange={event => store.type(event.target.value)}
        onKeyDown={event => onFieldKey(event, store, host)}
      />
    </div>
  );
}

function onFieldKey(
  event: React.KeyboardEvent,
  store: SearchStore,
  host: IQuickPickHost
): void {
  const { key, altKey, shiftKey, ctrlKey, metaKey } = event;
  if (event.nativeEvent.isComposing || shiftKey || ctrlKey || metaKey) {
    return; // Of the input method, or of the text field.
  }
  const to = altKey ? null : moveOf(key);
  if (to !== null && store.state.matches.length > 0) {
    event.preventDefault();
    store.dispatch({ type: 'move', to });
  } else if (key === 'Enter') {
    event.preventDefault();
    void pickActive(store, altKey ? match => host.attach([match]) : host.open);
  }
}

/** Enter is about the text in the field, so it waits for the answer to that. */
async function pickActive(
  store: SearchStore,
  pick: (match: SearchMatch) => void
): Promise<void> {
  await store.settled();
  const match = store.state.matches[store.state.active];
  if (match !== undefined) {
    pick(match);
  }
}

function Footer(props: {
  state: ISearchState;
  attach: IQuickPickHost['attach'];
}): React.JSX.Element {
  const trans = useTrans();
  const { matches } = props.state;
  return (
    <div className="shoulders-Search-footer">
      <span className="shoulders-Search-count" role="status">
        <Count state={props.state} />
      </span>
      {matches.length > 0 && (
        <>
          <span className="shoulders-Search-keys">
            <kbd>{trans.__('Enter')}</kbd> {trans.__('opens')}{' '}
            <kbd>{trans.__('Alt+Enter')}</kbd>{' '}
            {trans.__('attaches to the chat')}
          </span>
          <button
            type="button"
            className="shoulders-Button"
            title={trans.__('Attach the places shown to the next message')}
            onClick={() => props.attach(matches)}
          >
            {trans.__('Ask about these')}
          </button>
        </>
      )}
    </div>
  );
}

/** Leads to the settings where search by meaning can be allowed. */
function MeaningNote(props: { openSettings: () => void }): React.JSX.Element {
  const trans = useTrans();
  return (
    <div className="shoulders-Search-setup">
      <button
        type="button"
        className="shoulders-Link"
        onClick={props.openSettings}
      >
        {trans.__('Search by meaning is not set up')}
      </button>
    </div>
  );
}

/** The number of places, which a screen reader announces. */
function Count({ state }: { state: ISearchState }): React.JSX.Element | null {
  const trans = useTrans();
  const { answer, matches, query } = state;
  if (answer === null || isBlank(query)) {
    return null;
  }
  const { total } = answer.results;
  if (total === 0) {
    return <>{trans.__('Nothing found')}</>;
  }
  return (
    <>
      {total > matches.length
        ? trans.__('The best %1 of %2 places', matches.length, total)
        : trans._n('%1 place', '%1 places', total)}
    </>
  );
}
