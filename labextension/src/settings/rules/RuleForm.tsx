/** The form of a new or changed rule. Its draft survives refusals and switching sections. */

import * as React from 'react';

import { Button, ErrorNote } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import type { Json, RuleBody } from '../../wire/generated';
import { describeSaveError } from '../components/fields';
import { actionName, conditionName } from './ruleLabels';
import { CONDITIONS, ruleOf, type IRuleText } from './rulePatterns';
import { useField, useStore } from '../components/hooks';

const ACTIONS = ['deny', 'ask', 'allow'] as const;

export function RuleForm(props: {
  /** Of the draft. */
  name: string;
  start: IRuleText;
  tools: readonly string[];
  label: string;
  store: (rule: RuleBody) => Promise<void>;
  onClose: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { drafts } = useStore();
  const id = React.useId();
  const store = async (value: Json): Promise<void> => {
    const rule = ruleOf(textOf(value, props.start));
    if (rule !== null) {
      await props.store(rule);
    }
  };
  const field = useField(props.name, { ...props.start }, store);
  const text = textOf(field.value, props.start);
  const change = (part: Partial<IRuleText>): void =>
    field.edit({ ...text, ...part });
  const close = (): void => {
    field.discard();
    props.onClose();
  };
  const save = async (): Promise<void> => {
    if (!field.isDirty) {
      close();
    } else if (await drafts.save(props.name, store)) {
      props.onClose();
    }
  };
  const isComplete = ruleOf(text) !== null;
  return (
    <form
      className="shoulders-RuleForm"
      aria-label={props.label}
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          close();
        }
      }}
    >
      <RuleAction text={text} tools={props.tools} onChange={change} />
      <RuleCondition text={text} onChange={change} />
      {text.condition !== 'any' && (
        <Examples text={text} onChange={change} id={id} />
      )}
      {field.error !== null && (
        <ErrorNote error={describeSaveError(field.error, trans)} />
      )}
      <div className="shoulders-Actions">
        <button
          type="submit"
          className="shoulders-Button shoulders-mod-primary"
          disabled={!isComplete || field.busy}
        >
          {trans.__('Save')}
        </button>
        <Button onClick={close}>{trans.__('Cancel')}</Button>
      </div>
    </form>
  );
}

/** Action and tool of the rule. */
function RuleAction(props: {
  text: IRuleText;
  tools: readonly string[];
  onChange: (part: Partial<IRuleText>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { text, onChange } = props;
  const id = React.useId();
  return (
    <div className="shoulders-RuleForm-line">
      <select
        className="shoulders-Input"
        aria-label={trans.__('What the rule does')}
        // The user opened the form.
        autoFocus={true}
        value={text.action}
        onChange={event => {
          const action = ACTIONS.find(each => each === event.target.value);
          onChange({ action: action ?? text.action });
        }}
      >
        {ACTIONS.map(action => (
          <option key={action} value={action}>
            {actionName(action, trans)}
          </option>
        ))}
      </select>
      <input
        className="shoulders-Input"
        list={`${id}-tools`}
        aria-label={trans.__('Tool')}
        placeholder={trans.__('Tool, or a pattern such as git_*')}
        spellCheck={false}
        value={text.tool}
        onChange={event => onChange({ tool: event.target.value })}
      />
      <datalist id={`${id}-tools`}>
        {props.tools.map(tool => (
          <option key={tool} value={tool} />
        ))}
      </datalist>
    </div>
  );
}

/** When the rule applies. */
function RuleCondition(props: {
  text: IRuleText;
  onChange: (part: Partial<IRuleText>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { text, onChange } = props;
  return (
    <div className="shoulders-RuleForm-line">
      <select
        className="shoulders-Input"
        aria-label={trans.__('When it applies')}
        value={text.condition}
        onChange={event => {
          const { value } = event.target;
          const condition = CONDITIONS.find(each => each === value);
          onChange({ condition: condition ?? text.condition });
        }}
      >
        {CONDITIONS.map(condition => (
          <option key={condition} value={condition}>
            {conditionName(condition, trans)}
          </option>
        ))}
      </select>
      {text.condition !== 'any' && (
        <input
          className="shoulders-Input"
          aria-label={trans.__('Pattern')}
          placeholder={PLACEHOLDERS[text.condition]}
          spellCheck={false}
          value={text.pattern}
          onChange={event => onChange({ pattern: event.target.value })}
        />
      )}
    </div>
  );
}

/** Example patterns; not translated. */
const PLACEHOLDERS = {
  path: 'data/**',
  notebook: 'analysis.ipynb',
  command: 'git diff',
  domain: 'example.org'
} as const;

function Examples(props: {
  text: IRuleText;
  onChange: (part: Partial<IRuleText>) => void;
  id: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { text, onChange, id } = props;
  return (
    <div className="shoulders-RuleForm-examples">
      <label htmlFor={`${id}-fits`}>
        {trans.__('Must match (one per line, optional)')}
      </label>
      <textarea
        id={`${id}-fits`}
        className="shoulders-Input"
        rows={2}
        spellCheck={false}
        value={text.fits}
        onChange={event => onChange({ fits: event.target.value })}
      />
      <label htmlFor={`${id}-fits-not`}>
        {trans.__('Must not match (one per line, optional)')}
      </label>
      <textarea
        id={`${id}-fits-not`}
        className="shoulders-Input"
        rows={2}
        spellCheck={false}
        value={text.fitsNot}
        onChange={event => onChange({ fitsNot: event.target.value })}
      />
    </div>
  );
}

/** Read the form from a draft, which may hold any JSON. */
function textOf(value: Json, start: IRuleText): IRuleText {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...start, ...(value as Partial<IRuleText>) } // Only this form writes drafts of this name.
    : start;
}
