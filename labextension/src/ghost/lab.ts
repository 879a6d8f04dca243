/** Puts the suggestions of this page together. Loaded by the ghost plugin with the first notebook or file. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { ICompletionProviderManager } from '@jupyterlab/completer';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IStatusBar } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';

import { GHOST } from '../plugins/ghostCommands';
import { Announcer } from '../plugins/reviewCommands';
import { EXTENSION_ID, type IShouldersClient } from '../tokens';
import { Completions } from './completions';
import { Documents } from './documents';
import { Hint } from './hint';
import { InlineGhosts } from './inline';
import { Ghosts } from './page';
import { GhostPreferences } from './preferences';

/** What of the application suggestions are made of. */
export interface IGhostLab {
  readonly app: JupyterFrontEnd;
  readonly client: IShouldersClient;
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly languages: IEditorLanguageRegistry | null;
  readonly completers: ICompletionProviderManager | null;
  readonly bar: IStatusBar | null;
  readonly trans: TranslationBundle;
}

/** The suggestions of a page: those of `++`, and those of the lab's own completer. */
export interface IGhostPage {
  readonly ghosts: Ghosts;
  readonly inline: InlineGhosts;
}

/** Make them; they live as long as the page. */
export function makeGhosts(lab: IGhostLab): IGhostPage {
  const { app, client, notebooks, files, languages, completers, bar, trans } =
    lab;
  const announcer = new Announcer();
  const say = (text: string): void => announcer.say(text);
  const documents = new Documents(notebooks, files, languages);
  const completions = new Completions(client.http, client.socket.clientId, () =>
    UUID.uuid4()
  );
  const preferences = new GhostPreferences(client.http, client.socket);
  const open = (section: string): void =>
    void app.commands.execute(`${EXTENSION_ID}:open-settings`, { section });
  const hint = new Hint({ bar, trans, open, say });
  const shared = { documents, completions, preferences, hint };
  const ownCommands = new Set<string>(Object.values(GHOST));
  ownCommands.delete(GHOST.ask);
  const ghosts = new Ghosts({
    ...shared,
    ...{ commands: app.commands, ownCommands, trans, say }
  });
  const inline = new InlineGhosts({
    ...shared,
    isTaken: view => ghosts.has(view),
    isShown: id => completers?.inline?.isActive(id) ?? false,
    again: id => completers?.inline?.invoke(id)
  });
  return { ghosts, inline };
}
