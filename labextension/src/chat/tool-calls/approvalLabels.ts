/** Labels of approvals: effects of a call, and what an answer allows. Used by the card. */

import type { TranslationBundle } from '@jupyterlab/translation';

import {
  isNotebook,
  reachOf,
  type ApprovalScope,
  type Effect,
  type Reach,
  type Verb
} from '../../model/view-models/approvals';
import { visible } from '../../text/hiddenCharacters';
import type { ApprovalView } from '../../wire/generated';

/** Label of an effect. */
export function effectName(effect: Effect, trans: TranslationBundle): string {
  switch (effect) {
    case 'deletes_files':
      return trans.__('Deletes files');
    case 'writes_files':
      return trans.__('Writes files');
    case 'network':
      return trans.__('Uses the network');
    case 'installs':
      return trans.__('Installs packages');
    case 'shell':
      return trans.__('Runs shell commands');
    case 'long_loop':
      return trans.__('May run for long');
    case 'dynamic_code':
      return trans.__('Runs code built at run time');
    case 'outside_code':
      return trans.__('Runs code not shown here');
    case 'unknown':
      return trans.__('Effects not fully visible');
  }
}

/** Label of the run button. */
export function verbName(verb: Verb, trans: TranslationBundle): string {
  switch (verb) {
    case 'add':
      return trans.__('Add');
    case 'allow':
      return trans.__('Allow');
    case 'clear':
      return trans.__('Clear');
    case 'commit':
      return trans.__('Commit');
    case 'create':
      return trans.__('Create');
    case 'delete':
      return trans.__('Delete');
    case 'duplicate':
      return trans.__('Duplicate');
    case 'edit':
      return trans.__('Edit');
    case 'interrupt':
      return trans.__('Interrupt');
    case 'move':
      return trans.__('Move');
    case 'read':
      return trans.__('Read');
    case 'rename':
      return trans.__('Rename');
    case 'restart':
      return trans.__('Restart');
    case 'run':
      return trans.__('Run');
    case 'undo':
      return trans.__('Undo');
    case 'write':
      return trans.__('Write');
  }
}

/** Label of the allow button, with everything it allows. */
export function allowanceName(
  scope: ApprovalScope,
  reach: Reach,
  trans: TranslationBundle
): string {
  if (scope === 'session' && reach.kind === 'command') {
    return reach.exact
      ? trans.__('Allow this command in this conversation')
      : trans.__('Allow “%1 …” in this conversation', visible(reach.of));
  }
  if (scope !== 'always') {
    return scope === 'session'
      ? trans.__('Allow in this conversation')
      : trans.__('Allow for this file');
  }
  switch (reach.kind) {
    case 'once':
    case 'tool':
      return trans.__('Always for every call of this tool');
    case 'path':
    case 'domain':
      return trans.__('Always for %1', visible(reach.of));
    case 'command':
      return reach.exact
        ? trans.__('Always for exactly this command')
        : trans.__('Always for “%1 …” that only reads', visible(reach.of));
  }
}

export function scopeName(
  scope: ApprovalScope,
  approval: ApprovalView,
  trans: TranslationBundle
): string {
  switch (scope) {
    case 'once':
      return trans.__('Once');
    case 'document':
      return isNotebook(approval.arguments.path)
        ? trans.__('For this notebook')
        : trans.__('For this file');
    case 'session':
      return trans.__('In this conversation');
    case 'always':
      return trans.__('Always');
  }
}

/** Longest command in a menu, in characters; the tooltip has all of it. */
const LONGEST_COMMAND = 100;

/** What an answer allows, for a menu. */
export function reachNote(
  approval: ApprovalView,
  scope: ApprovalScope,
  trans: TranslationBundle
): { note: string; fullNote: string } {
  const reach = reachOf(scope, approval.arguments, approval.reach);
  const fullNote = reachName(reach, trans);
  if (reach.kind !== 'command' || reach.of.length <= LONGEST_COMMAND) {
    return { note: fullNote, fullNote };
  }
  const of = `${reach.of.slice(0, LONGEST_COMMAND)}…`;
  return { note: reachName({ ...reach, of }, trans), fullNote };
}

/** What is allowed from then on without asking. */
export function reachName(reach: Reach, trans: TranslationBundle): string {
  switch (reach.kind) {
    case 'once':
      return trans.__('Only this call');
    case 'tool':
      return trans.__('All calls of this tool');
    case 'path':
      return trans.__('This tool, on %1', visible(reach.of));
    case 'command':
      return reach.exact
        ? trans.__('Only this command: %1', visible(reach.of))
        : trans.__(
            'Commands that begin with “%1” and only read',
            visible(reach.of)
          );
    case 'domain':
      return trans.__('This tool, at %1', visible(reach.of));
  }
}
