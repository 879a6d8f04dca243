/**
 * The review commands, whose ids are a public interface, and announcements for screen readers. Used by the review
 * plugin.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';

import type { ReviewController } from './controller';
import type { PendingEditsStore } from './pendingEdits';
import { EXTENSION_ID } from '../tokens';

export const REVIEW_COMMANDS = {
  next: `${EXTENSION_ID}:next-change`,
  previous: `${EXTENSION_ID}:previous-change`,
  keep: `${EXTENSION_ID}:keep-change`,
  undo: `${EXTENSION_ID}:undo-change`,
  keepDocument: `${EXTENSION_ID}:keep-document-changes`,
  undoDocument: `${EXTENSION_ID}:undo-document-changes`,
  keepAll: `${EXTENSION_ID}:keep-all-changes`,
  undoAll: `${EXTENSION_ID}:undo-all-changes`,
  show: `${EXTENSION_ID}:show-changes`
} as const;

/** Runs actions of the review. */
export interface IReviewing {
  run(act: (page: ReviewController) => Promise<unknown>): void;
}

/** Add the commands to the application and its palette. */
export function addReviewCommands(
  app: JupyterFrontEnd,
  store: PendingEditsStore,
  reviewing: IReviewing,
  show: () => void,
  trans: TranslationBundle,
  palette: ICommandPalette | null
): void {
  type Act = (page: ReviewController) => Promise<unknown>;
  const acts: Record<string, [label: string, act: Act]> = {
    [REVIEW_COMMANDS.next]: [
      trans.__('Next Change by AI'),
      page => page.step(1)
    ],
    [REVIEW_COMMANDS.previous]: [
      trans.__('Previous Change by AI'),
      page => page.step(-1)
    ],
    [REVIEW_COMMANDS.keep]: [
      trans.__('Keep This Change by AI'),
      page => page.decideCurrent('keep')
    ],
    [REVIEW_COMMANDS.undo]: [
      trans.__('Undo This Change by AI'),
      page => page.decideCurrent('undo')
    ],
    [REVIEW_COMMANDS.keepDocument]: [
      trans.__('Keep All Changes by AI in This Document'),
      page => page.decide(page.currentEdits, 'keep')
    ],
    [REVIEW_COMMANDS.undoDocument]: [
      trans.__('Undo All Changes by AI in This Document'),
      page => page.decide(page.currentEdits, 'undo')
    ],
    [REVIEW_COMMANDS.keepAll]: [
      trans.__('Keep All Changes by AI'),
      page => page.decide(store.edits, 'keep')
    ],
    [REVIEW_COMMANDS.undoAll]: [
      trans.__('Undo All Changes by AI'),
      page => page.decide(store.edits, 'undo')
    ]
  };
  const isEnabled = (): boolean => store.edits.length > 0;
  const category = trans.__('AI');
  const add = (command: string, options: CommandRegistry.ICommandOptions) => {
    app.commands.addCommand(command, {
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled,
      ...options
    });
    palette?.addItem({ command, category });
  };
  for (const [command, [label, act]] of Object.entries(acts)) {
    add(command, { label, execute: () => reviewing.run(act) });
  }
  add(REVIEW_COMMANDS.show, {
    label: trans.__('Show Changes by AI'),
    execute: show
  });
  store.changed.connect(() => app.commands.notifyCommandChanged());
}

/** Announces events to screen readers without moving the focus. */
export class Announcer {
  announce(text: string): void {
    this.node ??= region();
    this.node.textContent = text;
  }

  private node: HTMLElement | null = null;
}

function region(): HTMLElement {
  const node = document.createElement('div');
  node.className = 'shoulders-Announcer';
  node.setAttribute('role', 'status');
  node.setAttribute('aria-live', 'polite');
  document.body.append(node);
  return node;
}
