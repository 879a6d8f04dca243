/** What is offered after `@`: what is around at once, and soon what the server finds. Used by `useSuggestions`. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IConversations } from '../../../model/conversations/interface';
import { chooseMentions, type IMention, type IToken } from './mentions';
import type { VariableSummary } from '../../../wire/generated';
import type { IChatHost } from '../../../host/chatHost';
import {
  KIND_ICONS,
  kindName,
  namesAround,
  namesFound
} from './mentionCandidates';
import type { IListboxOption } from './Listbox';

/** Something that can be named, as a choice. */
export interface IMentionOption extends IListboxOption {
  readonly mention: IMention;
}

/** Shows what is offered, again when more is known. */
export type Show = (options: readonly IMentionOption[]) => void;

/** Looks for what matches; only the latest look shows anything. */
export class MentionSource {
  constructor(
    private readonly host: IChatHost,
    private readonly conversations: IConversations,
    /** Key of the tab it is for. */
    private readonly tab: string,
    private readonly trans: TranslationBundle
  ) {}

  look({ query }: IToken, show: Show): void {
    const turn = ++this.turn;
    const again = (): void => {
      if (turn === this.turn) {
        show(this.options(query));
      }
    };
    again();
    this.asked ??= this.variables();
    this.asked
      .then(variables => {
        this.known = variables;
        again();
      })
      .catch(unlisted);
    this.host.lookups
      .files(query)
      .then(matches => {
        if (turn === this.turn) {
          this.found = namesFound(matches);
          again();
        }
      })
      .catch(unlisted);
  }

  /** Look for nothing any more; the kernel is asked again the next time. */
  rest(): void {
    this.turn++;
    this.asked = null;
    this.found = [];
  }

  private options(query: string): IMentionOption[] {
    const { host, conversations, trans } = this;
    const { situation } = host;
    const own = conversations.session(this.tab)?.id;
    const around = namesAround(
      {
        situation,
        cells: host.cellsOf(situation.document ?? ''),
        variables: this.known,
        threads: conversations.history.all.filter(({ id }) => id !== own)
      },
      trans
    );
    return chooseMentions(query, around, this.found).map(mention => ({
      key: JSON.stringify(mention.attachment),
      icon: KIND_ICONS[mention.kind],
      title: mention.label,
      note: mention.note,
      group: kindName(mention.kind, trans),
      mention
    }));
  }

  private async variables(): Promise<readonly VariableSummary[]> {
    const { document } = this.host.situation;
    if (document?.endsWith('.ipynb') !== true) {
      return [];
    }
    return (await this.host.lookups.variables(document)).variables;
  }

  private turn = 0;
  private asked: Promise<readonly VariableSummary[]> | null = null;
  private known: readonly VariableSummary[] = [];
  /** What the server found last: it stays until the next answer, so that the list does not flicker. */
  private found: readonly IMention[] = [];
}

/** The list does without: the rest of it can still be chosen. */
function unlisted(reason: unknown): void {
  console.warn('Some of what can be named after @ is not listed:', reason);
}
