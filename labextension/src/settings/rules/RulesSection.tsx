/** Rules that allow, ask or deny in every mode: the administrator's and the user's. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Badge, Button, ErrorNote, IconButton } from '../../ui/primitives';
import { useAction, useTrans, useView } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type { RuleInfo, ToolList } from '../../wire/generated';
import { describeSaveError } from '../components/fields';
import {
  useFocusAfter,
  useFocusAfterRemoval
} from '../components/useFocusRecovery';
import {
  addRule,
  moveRule,
  otherProblems,
  removeRule,
  replaceRule,
  ruleBody,
  type PermissionChange
} from '../store/permissions';
import { Group, Loaded, Problems } from '../components/components';
import { RuleForm } from './RuleForm';
import { actionName, conditionName } from './ruleLabels';
import { NEW_RULE, ruleText } from './rulePatterns';
import { useSettingsPage, useStore } from '../components/hooks';

export function RulesSection(): React.JSX.Element {
  const trans = useTrans();
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'Deny rules override ask rules, which override allow rules; all of them override the mode of a conversation. Rules are stored in .shoulders/tools.json; “Always” in an approval adds one.'
        )}
      </p>
      <Loaded resource={useStore().tools}>
        {list => <Lists list={list} />}
      </Loaded>
    </>
  );
}

function Lists({ list }: { list: ToolList }): React.JSX.Element {
  const trans = useTrans();
  const locked = list.rules.filter(rule => rule.locked);
  const own = list.rules.filter(rule => !rule.locked);
  const tools = list.tools.map(({ name }) => name);
  const add = React.useRef<HTMLDivElement>(null);
  const { list: rows, removes } = useFocusAfterRemoval(own.length, () =>
    add.current?.querySelector('button')
  );
  return (
    <>
      <Problems problems={otherProblems(list)} />
      {locked.length > 0 && (
        <Group
          title={trans.__('Set by your administrator')}
          note={trans.__(
            'Locked: these rules are set in Jupyter’s configuration (Shoulders.rules) and cannot be overridden.'
          )}
        >
          <ol className="shoulders-Lines">
            {locked.map((rule, index) => (
              <LockedRule key={index} rule={rule} />
            ))}
          </ol>
        </Group>
      )}
      <Group title={trans.__('Yours')}>
        {own.length === 0 && (
          <p className="shoulders-Settings-note">
            {trans.__('No rules yet. The mode of each conversation decides.')}
          </p>
        )}
        <ol className="shoulders-Lines" ref={rows}>
          {own.map((rule, index) => (
            <OwnRule
              key={keyOf(rule, index)}
              rule={rule}
              onRemove={() => removes(index)}
              isFirst={index === 0}
              isLast={index === own.length - 1}
              tools={tools}
            />
          ))}
        </ol>
        <div ref={add}>
          <NewRule tools={tools} />
        </div>
      </Group>
    </>
  );
}

function NewRule(props: { tools: readonly string[] }): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const [open, setOpen] = React.useState(store.drafts.get('rule:new') !== null);
  const ref = React.useRef<HTMLDivElement>(null);
  const isClosed = React.useRef(false);
  React.useEffect(() => {
    if (isClosed.current && !open) {
      ref.current?.querySelector('button')?.focus();
    }
  }, [open]);
  return open ? (
    <RuleForm
      name="rule:new"
      start={NEW_RULE}
      tools={props.tools}
      label={trans.__('New rule')}
      store={rule => store.changePermissions(addRule(rule))}
      onClose={() => {
        isClosed.current = true;
        setOpen(false);
      }}
    />
  ) : (
    <div className="shoulders-Actions" ref={ref}>
      <Button onClick={() => setOpen(true)}>{trans.__('Add a rule…')}</Button>
    </div>
  );
}

function LockedRule({ rule }: { rule: RuleInfo }): React.JSX.Element {
  const { Icon } = useView();
  return (
    <li className="shoulders-Line shoulders-mod-rule">
      <RuleDescription rule={rule} />
      <Icon name="lock" />
    </li>
  );
}

function OwnRule(props: {
  rule: RuleInfo;
  onRemove: () => void;
  isFirst: boolean;
  isLast: boolean;
  tools: readonly string[];
}): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const { rule, onRemove, isFirst, isLast } = props;
  const body = ruleBody(rule);
  const start = ruleText(body);
  const draft = `rule:${JSON.stringify(body)}`;
  const [open, setOpen] = React.useState(store.drafts.get(draft) !== null);
  const [busy, error, change] = useChange();
  const words = inWords(rule, trans);
  const ref = React.useRef<HTMLLIElement>(null);
  // At the end of the list the other arrow gets the focus.
  const wasMoved = React.useRef(false);
  const wayBack = (): HTMLElement | null | undefined =>
    wasMoved.current
      ? ref.current?.querySelector<HTMLElement>(
          '.shoulders-Line-actions > button:enabled'
        )
      : null;
  const move = (by: -1 | 1): void => {
    wasMoved.current = true;
    change(moveRule(body, by));
  };
  useFocusAfter(!busy && isFirst, wayBack);
  useFocusAfter(!busy && isLast, wayBack);
  return (
    <li className="shoulders-Line shoulders-mod-rule" ref={ref}>
      <RuleDescription rule={rule} />
      <div className="shoulders-Line-actions">
        <IconButton
          icon="caret-up"
          label={trans.__('Move up: %1', words)}
          disabled={busy || isFirst}
          onClick={() => move(-1)}
        />
        <IconButton
          icon="caret-down"
          label={trans.__('Move down: %1', words)}
          disabled={busy || isLast}
          onClick={() => move(1)}
        />
        <IconButton
          icon="pencil"
          label={trans.__('Change: %1', words)}
          disabled={busy || start === null}
          pressed={open}
          onClick={() => setOpen(!open)}
        />
        <IconButton
          icon="delete"
          label={trans.__('Remove: %1', words)}
          disabled={busy}
          onClick={() => {
            onRemove();
            change(removeRule(body));
          }}
        />
      </div>
      {error !== null && <ErrorNote error={describeSaveError(error, trans)} />}
      {open && start !== null && (
        <RuleForm
          name={draft}
          start={start}
          tools={props.tools}
          label={trans.__('Change the rule')}
          store={rule => store.changePermissions(replaceRule(body, rule))}
          onClose={() => {
            setOpen(false);
            ref.current?.querySelector<HTMLElement>('[aria-pressed]')?.focus();
          }}
        />
      )}
    </li>
  );
}

function RuleDescription({ rule }: { rule: RuleInfo }): React.JSX.Element {
  const trans = useTrans();
  const patterns = Object.entries(rule.match ?? {}).filter(
    ([, value]) => value !== null
  );
  return (
    <div className="shoulders-Line-body">
      <div className="shoulders-Line-head">
        <Badge kind={actionKind(rule.action)}>
          {actionName(rule.action, trans)}
        </Badge>
        <code>{visible(rule.tool) || trans.__('(no tool named)')}</code>
        {patterns.map(([name, value]) => (
          <span key={name} className="shoulders-Rule-pattern">
            {visible(conditionName(name, trans))}{' '}
            <code>
              {visible(
                typeof value === 'string' ? value : JSON.stringify(value)
              )}
            </code>
          </span>
        ))}
      </div>
      {!rule.applies && <NotApplied />}
      {rule.note !== null && (
        <div className="shoulders-Line-facts">{visible(rule.note)}</div>
      )}
      {rule.problem !== null && (
        <div className="shoulders-Field-wrong">
          {rule.line === null
            ? trans.__('Invalid, so it denies: %1', visible(rule.problem))
            : trans.__(
                'Invalid, so it denies: %1 (line %2)',
                visible(rule.problem),
                rule.line
              )}
        </div>
      )}
      {rule.examples !== null && (
        <div className="shoulders-Line-facts">
          {[
            ...rule.examples.match.map(each =>
              trans.__('matches: %1', visible(each))
            ),
            ...rule.examples.not_match.map(each =>
              trans.__('does not match: %1', visible(each))
            )
          ].join(' · ')}
        </div>
      )}
    </div>
  );
}

/** A rule that waits for folder review, or was declined. */
function NotApplied(): React.JSX.Element {
  const trans = useTrans();
  const { reviewFolder } = useSettingsPage();
  return (
    <div className="shoulders-Line-facts">
      {trans.__('Not applied: comes with this folder.')}{' '}
      <button type="button" className="shoulders-Link" onClick={reviewFolder}>
        {trans.__('Review…')}
      </button>
    </div>
  );
}

/** Change the permissions and report the result. */
function useChange(): [
  boolean,
  ReturnType<typeof useAction>['error'],
  (change: PermissionChange) => void
] {
  const store = useStore();
  const { busy, error, run } = useAction();
  return [busy, error, change => run(() => store.changePermissions(change))];
}

/** A React key; duplicates are distinguished by position. */
function keyOf(rule: RuleInfo, index: number): string {
  return `${JSON.stringify(ruleBody(rule))}${rule.problem === null ? '' : index}`;
}

function inWords(rule: RuleInfo, trans: TranslationBundle): string {
  return [
    actionName(rule.action, trans),
    visible(rule.tool),
    ...Object.values(rule.match ?? {})
      .filter(value => typeof value === 'string')
      .map(visible)
  ].join(' ');
}

function actionKind(action: RuleInfo['action']): 'bad' | 'warning' | 'good' {
  return action === 'deny' ? 'bad' : action === 'ask' ? 'warning' : 'good';
}
