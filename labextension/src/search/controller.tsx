/** Search of this page: the quick-pick, and what it does with a place. Loaded by the search plugin on first use. */

import { Notification } from '@jupyterlab/apputils';
import { fileIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IHttpClient } from '../client/http';
import type { IPageSocket } from '../client/socket';
import { Icon } from '../lab/icons';
import { openTarget, type IDocumentParts } from '../lab/documentTarget';
import type { IConversations } from '../model/conversations/interface';
import { EXTENSION_ID } from '../tokens';
import type {
  ConversationPlace,
  SearchIndexStatus,
  SearchMatch,
  SearchResults
} from '../wire/generated';
import { attachmentsOf, MOST_ATTACHMENTS } from './matchAttachments';
import type { IQuickPickHost } from './QuickPick';
import { QuickPickWidget } from './quickPickWidget';
import { SearchStore } from './searchStore';

/** Places in an answer: more than anyone reads, few enough for one message. */
const LIMIT = '30';

/** Services that search needs. */
export interface ISearchParts extends IDocumentParts {
  readonly http: IHttpClient;
  readonly socket: Pick<IPageSocket, 'frameReceived'>;
  readonly conversations: IConversations;
  readonly trans: TranslationBundle;
}

/** Controls search; lives as long as the page. */
export class SearchController {
  constructor(private readonly parts: ISearchParts) {
    const { http } = parts;
    this.store = new SearchStore({
      search: (q, by) =>
        http.call<SearchResults>(
          'GET',
          `search?${new URLSearchParams({ q, by, limit: LIMIT }).toString()}`
        ),
      status: () => http.call<SearchIndexStatus>('GET', 'search/index')
    });
    this.host = this.makeHost();
  }

  /** Show the quick-pick with a text, by default the last one. */
  open(query: string | null): void {
    if (query === null) {
      this.store.refresh(); // Documents may have changed.
    } else {
      this.store.type(query);
    }
    if (this.shown === null || this.shown.isDisposed) {
      const following = this.store.follow(this.parts.socket.frameReceived);
      this.shown = new QuickPickWidget(this.store, this.host);
      this.shown.disposed.connect(() => following.dispose());
      this.store.loadSetup();
    }
    this.shown.open();
  }

  private openMatch(match: SearchMatch): void {
    if (match.conversation !== null) {
      void this.openConversation(match.conversation);
      return;
    }
    const { cell_id, is_output, line, path, snippet } = match;
    const last = line + snippet.split('\n').length - 1;
    openTarget(this.parts, {
      path,
      cellId: cell_id,
      text: snippet,
      ...(is_output ? { part: 'output' } : { lines: { first: line, last } })
    });
  }

  private async openConversation(place: ConversationPlace): Promise<void> {
    const { app, conversations } = this.parts;
    await app.commands.execute(`${EXTENSION_ID}:focus-chat`);
    conversations.open(place.session_id, place.message_id);
  }

  /** Attach places to the next message, as many as it may have, and focus the chat. */
  private async attach(matches: readonly SearchMatch[]): Promise<void> {
    const { app, conversations, trans } = this.parts;
    const { key } = conversations.active;
    const attached = await attachmentsOf(matches, this.readText);
    const room =
      MOST_ATTACHMENTS -
      conversations.attachments(key).length -
      conversations.uploads.pending(key).length;
    attached
      .slice(0, Math.max(room, 0))
      .forEach(attachment => conversations.attach(key, attachment));
    if (attached.length > room) {
      Notification.warning(
        trans.__(
          'A message can have at most %1 attachments. The others were left out.',
          MOST_ATTACHMENTS
        ),
        { autoClose: 6000 }
      );
    }
    void app.commands.execute(`${EXTENSION_ID}:focus-chat`);
  }

  /** The text of a file: that of its editor if it is open, as the search sees it. */
  private readonly readText = async (path: string): Promise<string> => {
    const { documents, editors } = this.parts;
    const open = editors?.find(({ context }) => context.localPath === path);
    if (open !== undefined) {
      return open.content.model.sharedModel.getSource();
    }
    const file = await documents.services.contents.get(path, {
      content: true,
      type: 'file',
      format: 'text'
    });
    const content: unknown = file.content;
    if (typeof content !== 'string') {
      throw new TypeError(`${path} is not text.`);
    }
    return content.replaceAll('\r\n', '\n');
  };

  private makeHost(): IQuickPickHost {
    const { app, trans } = this.parts;
    return {
      trans,
      Icon,
      FileIcon: ({ path }) => {
        const [type] = app.docRegistry.getFileTypesForPath(path);
        const { react: Picture } = type?.icon ?? fileIcon;
        return <Picture tag="span" className="shoulders-Icon" />;
      },
      open: match => {
        this.shown?.leave();
        this.openMatch(match);
      },
      attach: matches => {
        this.shown?.leave();
        void this.attach(matches);
      },
      openSettings: () => {
        this.shown?.leave();
        void app.commands.execute(`${EXTENSION_ID}:open-settings`, {
          section: 'search'
        });
      }
    };
  }

  private readonly store: SearchStore;
  private readonly host: IQuickPickHost;
  private shown: QuickPickWidget | null = null;
}
