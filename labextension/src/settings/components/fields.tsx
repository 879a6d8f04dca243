/** Fields of the settings page: label, control, source of the value, and the result of a change. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans, useView } from '../../ui/hooks';
import type { ErrorInfo, Json, Settings } from '../../wire/generated';
import { isChangedElsewhere } from '../store/conflict';
import type { Area } from '../store/settingsStore';
import {
  textForm,
  textOf,
  useSetting,
  type IField,
  type ISetting
} from './hooks';

/** A field's label, control and notes. */
export function Row(props: {
  label: string;
  note?: string;
  /** Renders the control, given its id and the id of its description. */
  control: (id: string, describedBy: string) => React.ReactNode;
  children?: React.ReactNode;
}): React.JSX.Element {
  const id = React.useId();
  return (
    <div className="shoulders-Field">
      <label className="shoulders-Field-label" htmlFor={id}>
        {props.label}
      </label>
      <div className="shoulders-Field-control">
        {props.control(id, `${id}-note`)}
      </div>
      <div className="shoulders-Field-note" id={`${id}-note`}>
        {props.note}
      </div>
      {props.children}
    </div>
  );
}

/** The state of a change: overtaken by another page, failed, or not saved yet. */
export function SaveOutcome(props: {
  field: IField;
  /** The stored value in words. */
  stored: string;
  /** Whether a button saves it; otherwise each choice is saved at once. */
  explicit: boolean;
  invalid?: boolean;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { field, stored, explicit } = props;
  if (field.isOutdated && field.isDirty) {
    return <OutdatedNote field={field} stored={stored} />;
  }
  const failed = field.error !== null;
  if (!failed && !(explicit && field.isDirty)) {
    return null;
  }
  return (
    <div className="shoulders-Field-outcome">
      {field.error !== null && (
        <ErrorNote error={describeSaveError(field.error, trans)} />
      )}
      <SaveButtons
        field={field}
        label={failed && !explicit ? trans.__('Try again') : trans.__('Save')}
        disabled={field.busy || props.invalid === true}
      />
    </div>
  );
}

function SaveButtons(props: {
  field: IField;
  label: string;
  disabled: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  const { field, label, disabled } = props;
  return (
    <div className="shoulders-Actions">
      <Button kind="primary" disabled={disabled} onClick={field.save}>
        {label}
      </Button>
      <Button onClick={field.discard} disabled={field.busy}>
        {trans.__('Discard')}
      </Button>
    </div>
  );
}

function OutdatedNote(props: {
  field: IField;
  stored: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { field, stored } = props;
  return (
    <div className="shoulders-OutdatedNote" role="alert">
      <span>{trans.__('Changed elsewhere to: %1', stored)}</span>
      <div className="shoulders-Actions">
        <Button onClick={field.rebase}>{trans.__('Keep mine')}</Button>
        <Button onClick={field.discard}>{trans.__('Use that value')}</Button>
      </div>
    </div>
  );
}

/** An error in words that fit the page. */
export function describeSaveError(
  error: ErrorInfo,
  trans: TranslationBundle
): ErrorInfo {
  return isChangedElsewhere(error)
    ? {
        ...error,
        message: trans.__(
          'This was changed elsewhere. Your change was not saved.'
        ),
        hint: trans.__('Check the current value and try again.')
      }
    : error;
}

/** Where a preference comes from, with a button to reset it. */
export function Source({
  setting
}: {
  setting: ISetting;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { Icon } = useView();
  if (setting.lock !== null) {
    return (
      <div className="shoulders-Field-lock">
        <Icon name="lock" />
        <span>
          {trans.__('Locked by your administrator. %1', setting.lock)}
        </span>
      </div>
    );
  }
  if (setting.isOverridden) {
    return (
      <div className="shoulders-Field-source">
        {trans.__(
          'This folder has its own value. To change it, choose “This folder” above.'
        )}
      </div>
    );
  }
  return setting.source === 'default' ? null : (
    <OverrideNote setting={setting} />
  );
}

function OverrideNote({ setting }: { setting: ISetting }): React.JSX.Element {
  const trans = useTrans();
  const { busy, error, run } = useAction();
  const { source, reset } = setting;
  return (
    <div className="shoulders-Field-source">
      <span>
        {source === 'user'
          ? trans.__('Set for all your folders.')
          : trans.__('Set for this folder.')}
      </span>
      {reset !== null && (
        <button
          type="button"
          className="shoulders-Link"
          disabled={busy}
          onClick={() => run(reset)}
        >
          {trans.__('Reset')}
        </button>
      )}
      {error !== null && <ErrorNote error={describeSaveError(error, trans)} />}
    </div>
  );
}

interface ISettingProps {
  settings: Settings;
  area: Area;
  name: string;
  label: string;
  note?: string;
}

/** One of several values. */
export interface IOption {
  readonly value: string;
  readonly title: string;
  readonly note?: string;
}

/** A preference with several values; saved when chosen. */
export function SelectSetting(
  props: ISettingProps & { options: readonly IOption[] }
): React.JSX.Element {
  const setting = useSetting(props.settings, props.area, props.name);
  const chosen = props.options.find(({ value }) => value === setting.value);
  const stored = props.options.find(({ value }) => value === setting.stored);
  return (
    <Row
      label={props.label}
      note={[props.note, chosen?.note].filter(Boolean).join(' ')}
      control={(id, describedBy) => (
        <select
          id={id}
          className="shoulders-Input"
          aria-describedby={describedBy}
          value={textOf(setting.value)}
          disabled={isFixed(setting)}
          onChange={event => setting.choose(event.target.value)}
        >
          {props.options.map(({ value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      )}
    >
      <Source setting={setting} />
      <SaveOutcome
        field={setting}
        stored={stored?.title ?? textOf(setting.stored)}
        explicit={false}
      />
    </Row>
  );
}

/** A preference that is on or off; saved at once. */
export function SwitchSetting(props: ISettingProps): React.JSX.Element {
  const trans = useTrans();
  const setting = useSetting(props.settings, props.area, props.name);
  return (
    <Row
      label={props.label}
      {...(props.note === undefined ? {} : { note: props.note })}
      control={(id, describedBy) => (
        <Switch
          id={id}
          describedBy={describedBy}
          on={setting.value === true}
          disabled={isFixed(setting)}
          onChange={setting.choose}
        />
      )}
    >
      <Source setting={setting} />
      <SaveOutcome
        field={setting}
        stored={setting.stored === true ? trans.__('on') : trans.__('off')}
        explicit={false}
      />
    </Row>
  );
}

/** A text preference; Enter or its button saves, Esc discards. */
export function TextSetting(
  props: ISettingProps & {
    unit?: string;
    /** What an empty text means. */
    placeholder?: string;
    /** The value to send for a text; undefined when invalid. */
    parse: (text: string) => Json | undefined;
    /** Formats the stored value; by default as it is. */
    show?: (value: Json) => string;
    invalid: string;
  }
): React.JSX.Element {
  const { settings, area, name, parse, show } = props;
  const setting = useSetting(settings, area, name, textForm(parse, show));
  const typed = textOf(setting.value);
  const isWrong = parse(typed) === undefined;
  return (
    <Row
      label={props.label}
      {...(props.note === undefined ? {} : { note: props.note })}
      control={(id, describedBy) => (
        <>
          <input
            id={id}
            className="shoulders-Input"
            value={typed}
            placeholder={props.placeholder}
            spellCheck={false}
            autoComplete="off"
            aria-describedby={describedBy}
            aria-invalid={isWrong}
            disabled={isFixed(setting)}
            onChange={event => setting.edit(event.target.value)}
            onKeyDown={event => onFieldKey(event, setting, isWrong)}
          />
          {props.unit !== undefined && (
            <span className="shoulders-Field-unit">{props.unit}</span>
          )}
        </>
      )}
    >
      {isWrong && <InvalidNote>{props.invalid}</InvalidNote>}
      <Source setting={setting} />
      <SaveOutcome
        field={setting}
        stored={textOf(setting.stored)}
        explicit={true}
        invalid={isWrong}
      />
    </Row>
  );
}

/** Why the text is invalid. */
export function InvalidNote(props: { children: string }): React.JSX.Element {
  return (
    <div className="shoulders-Field-wrong" role="alert">
      {props.children}
    </div>
  );
}

/** Enter saves, Esc discards. */
export function onFieldKey(
  event: React.KeyboardEvent,
  field: Pick<IField, 'save' | 'discard' | 'isDirty' | 'busy'>,
  isWrong: boolean
): void {
  if (event.key === 'Enter' && field.isDirty && !isWrong && !field.busy) {
    event.preventDefault();
    field.save();
  } else if (event.key === 'Escape' && field.isDirty) {
    event.preventDefault();
    event.stopPropagation();
    field.discard();
  }
}

/** A switch. */
export function Switch(props: {
  id?: string;
  label?: string;
  describedBy?: string;
  on: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}): React.JSX.Element {
  return (
    <input
      id={props.id}
      className="shoulders-Switch"
      type="checkbox"
      role="switch"
      aria-label={props.label}
      aria-describedby={props.describedBy}
      checked={props.on}
      disabled={props.disabled ?? false}
      onChange={event => props.onChange(event.target.checked)}
    />
  );
}

/** A parser for numbers in a range, for `TextSetting`. */
export function numberIn(
  least: number,
  most: number,
  isWhole: boolean
): (text: string) => number | undefined {
  const form = isWhole ? /^\d+$/ : /^\d+(\.\d+)?$/;
  return text => {
    const value = Number(text.trim());
    return form.test(text.trim()) && value >= least && value <= most
      ? value
      : undefined;
  };
}

export function isFixed(setting: ISetting): boolean {
  return setting.lock !== null || setting.isOverridden;
}
