/** Suggested first messages for what is open: an error, a table in the kernel, a file. Used by `EmptyState`. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { VariableSummary } from '../../wire/generated';
import type { IEditorContext } from '../../host/chatHost';
import type { ICellInfo } from '../../host/inputHost';
import demoIdeas from './demoIdeas.json';
import { nameOf } from '../../ui/attachmentLabels';
import { TOUR_CELL } from './tourCell';

/** What is open. */
export interface IPromptContext {
  readonly editorContext: IEditorContext;
  readonly cells: readonly ICellInfo[];
  readonly variables: readonly VariableSummary[];
  /** Whether the demo answers, which has rules for some English requests. */
  readonly isDemo?: boolean;
}

const TABLES = /\.(csv|tsv|parquet|xlsx|feather|jsonl)$/i;
const WORDS = /\.(md|txt|rst|qmd|rmd|tex)$/i;

/** The ideas, the most urgent first. */
export function ideasFor(
  opened: IPromptContext,
  trans: TranslationBundle
): string[] {
  const { document } = opened.editorContext;
  const failing = opened.cells.find(({ id }) => id === TOUR_CELL);
  if (failing !== undefined) {
    return demoIdeas.tour.map(idea => withValue(idea, failing.number));
  }
  if (opened.isDemo === true) {
    return forDemo(opened);
  }
  if (document === null) {
    return [
      trans.__('What can you do for me?'),
      trans.__('Which notebooks are here, and what are they about?')
    ];
  }
  return document.endsWith('.ipynb')
    ? forNotebook(opened, trans)
    : forFile(nameOf(document), trans);
}

function forNotebook(
  opened: IPromptContext,
  trans: TranslationBundle
): string[] {
  const { editorContext, cells, variables } = opened;
  const table = tableAmong(variables);
  const isEmpty = cells.length > 0 && cells.every(({ line }) => line === '');
  if (isEmpty) {
    return [
      trans.__('Load a file of this workspace and show its first rows'),
      trans.__('Write an outline for an analysis'),
      trans.__('What can you do for me?')
    ];
  }
  return [
    aboutError(editorContext, cells, trans),
    trans.__('Summarise this notebook'),
    table === undefined
      ? trans.__('Plot a column of the dataframe')
      : trans.__('Plot a column of %1', table.name),
    trans.__('Tidy up the imports')
  ];
}

/** Requests the demo has rules for, untranslated because it reads only English. */
function forDemo({ cells, variables }: IPromptContext): string[] {
  const { any, error, notebook, table } = demoIdeas;
  const failed = cells.find(({ hasError }) => hasError);
  const frame = tableAmong(variables);
  const hasCode = cells.some(
    ({ type, line }) => type === 'code' && line !== ''
  );
  return [
    ...(failed === undefined ? [] : [withValue(error, failed.number)]),
    ...(frame === undefined ? [] : [withValue(table, `\`${frame.name}\``)]),
    ...(hasCode ? notebook : []),
    ...any
  ];
}

function withValue(idea: string, value: string | number): string {
  return idea.replace('%1', String(value));
}

function tableAmong(
  variables: readonly VariableSummary[]
): VariableSummary | undefined {
  return variables.find(({ summary }) => /DataFrame/i.test(summary));
}

function aboutError(
  { cell }: IEditorContext,
  cells: readonly ICellInfo[],
  trans: TranslationBundle
): string {
  if (cell?.hasError === true) {
    return trans.__('Explain this error and fix it');
  }
  const failed = cells.find(({ hasError }) => hasError);
  return failed === undefined
    ? trans.__('Find and fix the error in this notebook')
    : trans.__('Explain the error in cell %1 and fix it', failed.number);
}

function forFile(name: string, trans: TranslationBundle): string[] {
  if (TABLES.test(name)) {
    return [
      trans.__('Summarise the table in %1', name),
      trans.__('Make a notebook that loads and plots %1', name)
    ];
  }
  if (WORDS.test(name)) {
    return [
      trans.__('Summarise %1', name),
      trans.__('Make the wording of %1 clearer', name)
    ];
  }
  return [
    trans.__('Explain %1', name),
    trans.__('Find mistakes in %1', name),
    trans.__('Write tests for %1', name)
  ];
}
