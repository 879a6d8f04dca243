/** AI settings that came with the folder; the user trusts or declines each. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Button, Disclosure, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import { isWaiting } from '../../trust/items';
import type {
  ErrorInfo,
  FolderTrustView,
  PutTrust,
  TrustItem
} from '../../wire/generated';
import { FolderItem, itemName } from './FolderItem';
import { useFocusAfterRemoval } from '../components/useFocusRecovery';
import { Group, Loaded } from '../components/components';
import { useStore } from '../components/hooks';

export function FolderSection(): React.JSX.Element {
  const { view } = useStore().folderTrust;
  React.useEffect(() => void view.refresh(), [view]);
  return <Loaded resource={view}>{value => <Review view={value} />}</Loaded>;
}

function Review({ view }: { view: FolderTrustView }): React.JSX.Element {
  const trans = useTrans();
  const { items } = view;
  return (
    <>
      <p className="shoulders-Settings-note">
        <code>{visible(view.folder)}</code>
      </p>
      {items.length === 0 && (
        <p className="shoulders-Settings-note">
          {trans.__('This folder has no AI settings of its own.')}
        </p>
      )}
      {items.length > 0 &&
        (view.policy === 'ask' ? (
          <Answers items={items} />
        ) : (
          <Decided policy={view.policy} items={items} />
        ))}
    </>
  );
}

/** Items the administrator decided. */
function Decided(props: {
  policy: 'trusted' | 'forbidden';
  items: readonly TrustItem[];
}): React.JSX.Element {
  const trans = useTrans();
  const { policy, items } = props;
  return (
    <>
      <p className="shoulders-Settings-note">
        {policy === 'trusted'
          ? trans.__(
              'All of these apply: this is your home folder, or your administrator trusts it.'
            )
          : trans.__(
              'Your administrator does not allow settings that come with a folder. Only your own settings apply.'
            )}
      </p>
      <Items items={items} />
    </>
  );
}

function Items(props: { items: readonly TrustItem[] }): React.JSX.Element {
  return (
    <ul className="shoulders-Trust">
      {props.items.map((item, index) => (
        <FolderItem key={keyOf(item, index)} item={item} />
      ))}
    </ul>
  );
}

/** Items the user decides. */
function Answers(props: { items: readonly TrustItem[] }): React.JSX.Element {
  const trans = useTrans();
  const { folderTrust } = useStore();
  const { error, runOnce } = useAction();
  const waiting = props.items.filter(isWaiting);
  const answered = props.items.filter(item => !isWaiting(item));
  const done = React.useRef<HTMLParagraphElement>(null);
  const { list, removes } = useFocusAfterRemoval(
    waiting.length,
    () => done.current
  );
  const answer = (body: PutTrust): void => {
    runOnce(() => folderTrust.answer(body));
  };
  return (
    <>
      {error !== null && <Failed error={error} />}
      {waiting.length === 0 ? (
        <p className="shoulders-Settings-note" tabIndex={-1} ref={done}>
          {trans.__('Nothing is waiting for your answer.')}
        </p>
      ) : (
        <Waiting
          items={waiting}
          list={list}
          answer={(body, row) => {
            removes(row);
            answer(body);
          }}
        />
      )}
      {answered.length > 0 && <Answered items={answered} answer={answer} />}
    </>
  );
}

function Waiting(props: {
  items: readonly TrustItem[];
  list: React.RefObject<HTMLOListElement>;
  /** Answer for the item of a row, or for all. */
  answer: (body: PutTrust, row: number) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { items, list, answer } = props;
  const settings = items.filter(({ kind }) => kind !== 'program');
  const ids = (of: readonly TrustItem[]): string[] => [
    ...new Set(of.map(({ id }) => id))
  ];
  return (
    <Group
      title={trans.__('Waiting for your answer')}
      note={trans.__(
        'These settings came with the folder. They do not apply until you trust them; trust only what you understand and expect. Settings that only restrict, such as rules that deny, already apply.'
      )}
    >
      <ol className="shoulders-Trust" ref={list}>
        {items.map((item, row) => (
          <FolderItem key={keyOf(item, row)} item={item}>
            <Button
              label={trans.__('Trust: %1', itemName(item, trans))}
              onClick={() => answer({ trust: [item.id] }, row)}
            >
              {trans.__('Trust')}
            </Button>
            <Button
              label={trans.__('Don’t trust: %1', itemName(item, trans))}
              onClick={() => answer({ decline: [item.id] }, row)}
            >
              {trans.__('Don’t trust')}
            </Button>
          </FolderItem>
        ))}
      </ol>
      {items.length > 1 && (
        <div className="shoulders-Actions">
          {settings.length > 1 && (
            // Programs are trusted one by one.
            <Button onClick={() => answer({ trust: ids(settings) }, 0)}>
              {settings.length === items.length
                ? trans.__('Trust all %1', items.length)
                : trans.__('Trust all %1 settings', settings.length)}
            </Button>
          )}
          <Button onClick={() => answer({ decline: ids(items) }, 0)}>
            {trans.__('Don’t trust any')}
          </Button>
        </div>
      )}
    </Group>
  );
}

/** Answered items; answers can be changed. */
function Answered(props: {
  items: readonly TrustItem[];
  answer: (body: PutTrust) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { items, answer } = props;
  return (
    <Disclosure
      className="shoulders-Trust-answered"
      summary={trans.__('Already answered (%1)', items.length)}
    >
      {() => (
        <ul className="shoulders-Trust">
          {items.map((item, index) => {
            const isTrusted = item.state === 'trusted';
            const name = itemName(item, trans);
            return (
              <FolderItem key={keyOf(item, index)} item={item}>
                <Button
                  label={
                    isTrusted
                      ? trans.__('Don’t trust: %1', name)
                      : trans.__('Trust: %1', name)
                  }
                  onClick={() =>
                    answer(
                      isTrusted ? { decline: [item.id] } : { trust: [item.id] }
                    )
                  }
                >
                  {isTrusted ? trans.__('Don’t trust') : trans.__('Trust')}
                </Button>
              </FolderItem>
            );
          })}
        </ul>
      )}
    </Disclosure>
  );
}

/** Why an answer was not stored; scrolls into view. */
function Failed({ error }: { error: ErrorInfo }): React.JSX.Element {
  const trans = useTrans();
  const ref = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => ref.current?.focus(), [error]);
  return (
    <div tabIndex={-1} ref={ref}>
      <ErrorNote error={inWords(error, trans)} />
    </div>
  );
}

function inWords(error: ErrorInfo, trans: TranslationBundle): ErrorInfo {
  return error.code === 'stale'
    ? {
        ...error,
        message: trans.__(
          'The folder’s settings have changed. Your answer was not saved.'
        ),
        hint: trans.__('Review the list below and answer again.')
      }
    : error;
}

/** The same item may occur twice. */
function keyOf({ id }: TrustItem, index: number): string {
  return `${id}:${index}`;
}
