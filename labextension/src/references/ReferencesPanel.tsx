/** The References panel: search, list, what can be done with a work, adding and checking. */

import '../../style/chat/panel.css';
import '../../style/ui/controls.css';
import '../../style/chat/cards.css';
import '../../style/references/panel.css';

import * as React from 'react';

import { visible } from '../text/hiddenCharacters';
import { serverText } from '../text/serverMessages';
import { useSignal, useTrans, ViewContext } from '../ui/hooks';
import { Button, ErrorNote, IconButton } from '../ui/primitives';
import { AddField } from './AddField';
import { CheckReport } from './CheckReport';
import { ReferenceDetails } from './ReferenceDetails';
import { optionId, ReferenceRows } from './ReferenceRows';
import type { IPanelHost } from './panelHost';
import type { IPanelState, PanelStore } from './panelStore';

export function ReferencesPanel(props: {
  store: PanelStore;
  host: IPanelHost;
}): React.JSX.Element {
  const { store, host } = props;
  const { trans } = host;
  const state = useSignal(store.changed, () => store.state);
  const list = React.useId();
  const chosen = state.found[state.active];
  return (
    <ViewContext.Provider value={host}>
      <div className="shoulders-References">
        <Header state={state} store={store} host={host} />
        <AddField
          busy={state.busy === 'adding'}
          add={text => store.add(text)}
        />
        <Notes state={state} store={store} host={host} />
        {state.check === null ? (
          <>
            <SearchField list={list} state={state} store={store} host={host} />
            <ReferenceRows id={list} state={state} store={store} host={host} />
            <Problems state={state} host={host} />
            {chosen !== undefined && (
              <ReferenceDetails reference={chosen} host={host} />
            )}
          </>
        ) : (
          <CheckReport check={state.check} goTo={host.goTo} />
        )}
        <span className="shoulders-References-status" role="status">
          {state.list === null || state.check !== null
            ? ''
            : trans._n('%1 work', '%1 works', state.total)}
        </span>
      </div>
    </ViewContext.Provider>
  );
}

function Header(props: {
  state: IPanelState;
  store: PanelStore;
  host: IPanelHost;
}): React.JSX.Element {
  const trans = useTrans();
  const { state, store, host } = props;
  return (
    <div className="shoulders-References-header">
      <h2>{trans.__('References')}</h2>
      {state.check !== null ? (
        <Button onClick={() => store.dismiss()}>{trans.__('Back')}</Button>
      ) : (
        <Button
          disabled={state.busy !== null}
          title={trans.__(
            'Find missing and unused references, duplicates, missing fields, dead DOIs and retracted works'
          )}
          onClick={() => void store.check(host.currentDocument())}
        >
          {state.busy === 'checking'
            ? trans.__('Checking…')
            : trans.__('Check')}
        </Button>
      )}
      <IconButton
        icon="insert"
        label={trans.__('Insert bibliography')}
        onClick={host.insertBibliography}
      />
      <IconButton
        icon="retry"
        label={trans.__('Refresh')}
        onClick={() => void store.refresh()}
      />
    </div>
  );
}

/** An error, or what became of an addition. */
function Notes(props: {
  state: IPanelState;
  store: PanelStore;
  host: IPanelHost;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { state, store } = props;
  if (state.failure !== null) {
    return (
      <div className="shoulders-References-note">
        <ErrorNote error={state.failure}>
          <Button onClick={() => store.dismiss()}>{trans.__('Close')}</Button>
        </ErrorNote>
      </div>
    );
  }
  const { added } = state;
  if (added === null) {
    return null;
  }
  const key = visible(added.reference?.key ?? '');
  const texts = {
    added: trans.__('Added %1 (%2)', key, visible(added.source)),
    duplicate: trans.__('%1 is in your references already.', key),
    not_added: trans.__('Nothing was added.')
  };
  return (
    <div className="shoulders-References-note" role="status">
      <div>
        <div>{texts[added.status]}</div>
        {added.reason !== '' && (
          <div className="shoulders-References-quiet">
            {visible(serverText(trans, added.reason))}
          </div>
        )}
      </div>
      <IconButton
        icon="close"
        label={trans.__('Close')}
        onClick={() => store.dismiss()}
      />
    </div>
  );
}

function SearchField(props: {
  list: string;
  state: IPanelState;
  store: PanelStore;
  host: IPanelHost;
}): React.JSX.Element {
  const trans = useTrans();
  const { list, state, store, host } = props;
  const onKey = (event: React.KeyboardEvent): void => {
    const moves: Record<string, number> = {
      ...{ ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }
    };
    const by = moves[event.key];
    const chosen = state.found[state.active];
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (by !== undefined) {
      event.preventDefault();
      store.move(by);
    } else if (event.key === 'Enter' && chosen !== undefined) {
      event.preventDefault();
      host.cite(chosen);
    }
  };
  return (
    <input
      className="shoulders-Input shoulders-References-search"
      type="search"
      role="combobox"
      aria-label={trans.__('Search references')}
      aria-autocomplete="list"
      aria-expanded={state.found.length > 0}
      aria-controls={list}
      aria-activedescendant={
        state.found.length > 0 ? optionId(list, state.active) : undefined
      }
      placeholder={trans.__('Search references')}
      spellCheck={false}
      autoComplete="off"
      value={state.query}
      onChange={event => store.type(event.target.value)}
      onKeyDown={onKey}
    />
  );
}

/** Entries that cannot be read, and what Zotero says. */
function Problems(props: {
  state: IPanelState;
  host: IPanelHost;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { list } = props.state;
  if (list === null) {
    return null;
  }
  const { problems, zotero } = list;
  return (
    <>
      {problems.length > 0 && (
        <details className="shoulders-References-problems">
          <summary>
            {trans._n('%1 broken entry', '%1 broken entries', problems.length)}
          </summary>
          {problems.map(({ file, line, message }) => (
            <button
              type="button"
              className="shoulders-Link"
              key={`${file}:${line}`}
              onClick={() => props.host.openFile(file, line)}
            >
              {trans.__('%1, line %2', visible(file), line)}
              {': '}
              {visible(serverText(trans, message))}
            </button>
          ))}
        </details>
      )}
      {zotero.running && (
        <div className="shoulders-References-zotero">
          {zotero.problem === ''
            ? trans._n('Zotero: %1 work', 'Zotero: %1 works', zotero.items)
            : trans.__(
                'Zotero: %1',
                visible(serverText(trans, zotero.problem))
              )}
        </div>
      )}
    </>
  );
}
