/** Candidates after `@`: local ones at once, results of the server later. Used by `useSuggestions`. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IConversations } from '../../../model/conversations/interface';
import { chooseMentions, type IMention, type IToken } from './mentions';
import { SUB_AGENT } from '../../../model/sessions/sessionHistory';
import type { VariableSummary } from '../../../wire/generated';
import type { IChatHost } from '../../../host/chatHost';
import {
  KIND_ICONS,
  kindName,
  localMentions,
  resourceMentions,
  serverMentions
} from './mentionCandidates';
import type { IListboxOption } from './Listbox';

/** A mentionable thing as a choice. */
export interface IMentionOption extends IListboxOption {
  readonly mention: IMention;
}

/** Receives the candidates, again when there are more. */
export type Show = (options: readonly IMentionOption[]) => void;

/** Searches candidates; only the latest search shows results. */
export class MentionSource {
  constructor(
    private readonly host: IChatHost,
    private readonly conversations: IConversations,
    /** Key of its tab. */
    private readonly tab: string,
    private readonly trans: TranslationBundle
  ) {}

  search({ query }: IToken, show: Show): void {
    const turn = ++this.turn;
    const again = (): void => {
      if (turn === this.turn) {
        show(this.options(query));
      }
    };
    again();
    this.request ??= this.readVariables();
    this.request
      .then(variables => {
        this.knownVariables = variables;
        again();
      })
      .catch(unlisted);
    this.host.lookups
      .files(query)
      .then(matches => {
        if (turn === this.turn) {
          this.results = serverMentions(matches);
          again();
        }
      })
      .catch(unlisted);
    this.host.lookups
      .mcpResources(query)
      .then(matches => {
        if (turn === this.turn) {
          this.resources = resourceMentions(matches);
          again();
        }
      })
      .catch(unlisted);
  }

  /** Stop searching; the next search reads the kernel's variables again. */
  stop(): void {
    this.turn++;
    this.request = null;
    this.results = [];
    this.resources = [];
  }

  private options(query: string): IMentionOption[] {
    const { host, conversations, trans } = this;
    const { situation: editorContext } = host;
    const own = conversations.session(this.tab)?.id;
    const around = localMentions(
      {
        editorContext,
        cells: host.cellsOf(editorContext.document ?? ''),
        variables: this.knownVariables,
        threads: conversations.history.all.filter(
          ({ id, source }) => id !== own && source !== SUB_AGENT
        )
      },
      trans
    );
    return chooseMentions(query, around, [
      ...this.results,
      ...this.resources
    ]).map(mention => ({
      key: JSON.stringify(mention.attachment),
      icon: KIND_ICONS[mention.kind],
      title: mention.label,
      note: mention.note,
      group: kindName(mention.kind, trans),
      mention
    }));
  }

  private async readVariables(): Promise<readonly VariableSummary[]> {
    const { document } = this.host.situation;
    if (document?.endsWith('.ipynb') !== true) {
      return [];
    }
    return (await this.host.lookups.variables(document)).variables;
  }

  private turn = 0;
  private request: Promise<readonly VariableSummary[]> | null = null;
  private knownVariables: readonly VariableSummary[] = [];
  /** Last results of the server, kept until the next ones to avoid flicker. */
  private results: readonly IMention[] = [];
  private resources: readonly IMention[] = [];
}

/** Other candidates remain available. */
function unlisted(reason: unknown): void {
  console.warn('Some of what can be named after @ is not listed:', reason);
}
