/** The index of search: its state and problems, what can be done with it, and why a file is not in it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { formatSize, groupCounts, groupDigits } from '../../text/numberFormat';
import { visible } from '../../text/hiddenCharacters';
import { serverText } from '../../text/serverMessages';
import { useAction, useTrans } from '../../ui/hooks';
import { Button, Disclosure, ErrorNote } from '../../ui/primitives';
import type {
  IndexedFile,
  IndexProblem,
  PostSearchIndex,
  SearchIndexStatus
} from '../../wire/generated';
import { Group, Loaded, Problems } from '../components/components';
import { Row } from '../components/fields';
import { useSettingsPage, useStore } from '../components/hooks';

/** More problems than this are collapsed. */
const FEW = 3;

export function SearchIndex(): React.JSX.Element {
  const trans = useTrans();
  const { searchIndex } = useStore();
  // Read again: the index may have changed unseen, and an error may be of the time when search was off.
  React.useEffect(() => void searchIndex.refresh(), [searchIndex]);
  return (
    <Group title={trans.__('Index')}>
      <Loaded resource={searchIndex}>
        {status => (
          <>
            <p className="shoulders-Settings-note" role="status">
              {stateText(status, trans)}
            </p>
            <IndexProblems problems={status.problems} />
            <IndexActions state={status.state} />
          </>
        )}
      </Loaded>
      <FileCheck />
    </Group>
  );
}

/** The state in one line. */
function stateText(
  status: SearchIndexStatus,
  trans: TranslationBundle
): string {
  const { state, behind, files, conversations, chunks, bytes } = status;
  const left = groupDigits(
    trans._n('%1 file left', '%1 files left', behind),
    behind
  );
  const content = [
    groupDigits(trans._n('%1 file', '%1 files', files), files),
    ...(conversations === 0
      ? []
      : [
          groupDigits(
            trans._n('%1 conversation', '%1 conversations', conversations),
            conversations
          )
        ]),
    groupDigits(trans._n('%1 chunk', '%1 chunks', chunks), chunks),
    formatSize(bytes)
  ];
  const words = {
    empty: [trans.__('No index yet. The first search builds it.')],
    building: [trans.__('Indexing: %1', left), ...content],
    ready: [trans.__('Up to date'), ...content],
    paused: [trans.__('Paused'), ...(behind > 0 ? [left] : []), ...content],
    failed: [trans.__('Indexing failed'), ...content]
  };
  return words[state].join(' · ');
}

function IndexProblems(props: {
  problems: readonly IndexProblem[];
}): React.JSX.Element {
  const trans = useTrans();
  const texts = props.problems.map(({ path, message }) => {
    const shown = serverText(trans, message);
    if (path === null) {
      return groupCounts(shown);
    }
    return shown.startsWith(`${path} `) ? shown : `${path} · ${shown}`;
  });
  return texts.length <= FEW ? (
    <Problems problems={texts} />
  ) : (
    <Disclosure
      className="shoulders-Settings-problems"
      summary={trans._n('%1 problem', '%1 problems', texts.length)}
    >
      {() => <Problems problems={texts} />}
    </Disclosure>
  );
}

function IndexActions({
  state
}: Pick<SearchIndexStatus, 'state'>): React.JSX.Element {
  const trans = useTrans();
  const { host, store } = useSettingsPage();
  const { busy, error, runOnce } = useAction();
  const change = (action: PostSearchIndex['action']): void =>
    runOnce(() => store.changeSearchIndex(action));
  const clear = (): void =>
    runOnce(async () => {
      const isSure = await host.confirm(
        trans.__('Clear the search index?'),
        trans.__('The next search builds it again, which can take minutes.'),
        trans.__('Clear')
      );
      if (isSure) {
        await store.changeSearchIndex('clear');
      }
    });
  return (
    <>
      <div className="shoulders-Actions" aria-busy={busy}>
        {state === 'paused' ? (
          <Button onClick={() => change('resume')}>{trans.__('Resume')}</Button>
        ) : (
          <Button onClick={() => change('pause')}>{trans.__('Pause')}</Button>
        )}
        <Button onClick={() => change('rebuild')}>{trans.__('Rebuild')}</Button>
        <Button onClick={clear} disabled={state === 'empty'}>
          {trans.__('Clear…')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** Says whether a file is in the index. */
function FileCheck(): React.JSX.Element {
  const trans = useTrans();
  const { api } = useStore();
  const { busy, error, run } = useAction();
  const [path, setPath] = React.useState('');
  const [file, setFile] = React.useState<IndexedFile | null>(null);
  const answer = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (file !== null) {
      answer.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [file]);
  const wanted = path.trim();
  const check = (): void =>
    run(async () => setFile((await api.searchIndex(wanted)).file));
  return (
    <Row
      label={trans.__('Why is this file not found?')}
      control={(id, describedBy) => (
        <form
          className="shoulders-Settings-check"
          onSubmit={event => {
            event.preventDefault();
            check();
          }}
        >
          <input
            id={id}
            className="shoulders-Input"
            value={path}
            placeholder={trans.__('Path in the workspace')}
            spellCheck={false}
            autoComplete="off"
            aria-describedby={describedBy}
            onChange={event => {
              setPath(event.target.value);
              setFile(null);
            }}
          />
          <button
            type="submit"
            className="shoulders-Button"
            disabled={busy || wanted === ''}
          >
            {trans.__('Check')}
          </button>
        </form>
      )}
    >
      <div className="shoulders-Field-note" role="status" ref={answer}>
        {file !== null && fileText(file, trans)}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </Row>
  );
}

function fileText(
  { chunks, reason }: IndexedFile,
  trans: TranslationBundle
): string {
  return reason === null
    ? groupDigits(
        trans._n(
          'It is searched: %1 chunk.',
          'It is searched: %1 chunks.',
          chunks
        ),
        chunks
      )
    : visible(serverText(trans, reason));
}
