/** A preference that is a list of texts, edited as one text with a line for each. */

import * as React from 'react';

import type { Json, Settings } from '../../wire/generated';
import type { Area } from '../store/settingsStore';
import { InvalidNote, isFixed, Row, SaveOutcome, Source } from './fields';
import { textForm, textOf, useSetting } from './hooks';

/** Limits of the list. */
export interface ILineLimits {
  readonly lines: number;
  /** Characters of a line. */
  readonly length: number;
}

/** Rows of the field: all lines up to this number. */
const MOST_ROWS = 8;

export function LinesSetting(props: {
  settings: Settings;
  area: Area;
  name: string;
  label: string;
  note: string;
  limits: ILineLimits;
  invalid: string;
}): React.JSX.Element {
  const { settings, area, name, label, note, limits, invalid } = props;
  const form = textForm(text => linesIn(text, limits), shownLines);
  const setting = useSetting(settings, area, name, form);
  const typed = textOf(setting.value);
  const isWrong = linesIn(typed, limits) === undefined;
  return (
    <Row
      label={label}
      note={note}
      control={(id, describedBy) => (
        <textarea
          id={id}
          className="shoulders-Input shoulders-Settings-globs"
          rows={Math.min(Math.max(typed.split('\n').length, 2), MOST_ROWS)}
          value={typed}
          spellCheck={false}
          autoComplete="off"
          aria-describedby={describedBy}
          aria-invalid={isWrong}
          disabled={isFixed(setting)}
          onChange={event => setting.edit(event.target.value)}
          onKeyDown={event => {
            if (event.key === 'Escape' && setting.isDirty) {
              event.preventDefault();
              event.stopPropagation();
              setting.discard();
            }
          }}
        />
      )}
    >
      {isWrong && <InvalidNote>{invalid}</InvalidNote>}
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

function shownLines(value: Json): string {
  return Array.isArray(value) ? value.map(textOf).join('\n') : '';
}

/** The lines that are not blank, each once; undefined if there are too many, or one is too long. */
export function linesIn(
  text: string,
  limits: ILineLimits
): string[] | undefined {
  const lines = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');
  const isFine =
    lines.length <= limits.lines &&
    lines.every(line => line.length <= limits.length);
  return isFine ? [...new Set(lines)] : undefined;
}
