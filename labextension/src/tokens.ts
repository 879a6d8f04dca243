/** The names other parts of the page know this extension by. */

import { Token } from '@lumino/coreutils';

import type { IOpenTexts as IOpenTextsModel } from './live-documents/textBridge';
import type { IHttpClient } from './client/http';
import type { IPageSocket } from './client/socket';
import type { IConversations as IConversationsModel } from './model/conversations/interface';
import type { IReview as IReviewModel } from './host/review';
import type { IThreadLocations } from './host/threadLocations';
import type { IWordPages as IWordPagesModel } from './live-documents/wordPages';
import type { IFolderTrust as IFolderTrustModel } from './host/folderTrust';

/** Id of the extension: the prefix of every plugin id, and its settings' namespace. */
export const EXTENSION_ID = 'jupyter-ai-shoulders';

/**
 * The domain of its strings in language packs. Not the id: of that the lab would replace the first hyphen only
 * (`normalizeDomain`), and find no pack.
 */
export const TRANSLATION_DOMAIN = 'jupyter_ai_shoulders';

/** The way to the server: requests and the one socket of this page. */
export interface IShouldersClient {
  readonly http: IHttpClient;
  readonly socket: IPageSocket;
}

/** Token of the way to the server. */
export const IShouldersClient = new Token<IShouldersClient>(
  `${EXTENSION_ID}:IShouldersClient`,
  'The HTTP API of the server half and the socket that carries events and document frames.'
);

/** All conversations this page knows, and those it shows. */
export type IConversations = IConversationsModel;

/** Token of the conversations. */
export const IConversations = new Token<IConversations>(
  `${EXTENSION_ID}:IConversations`,
  'The conversations with the agent: the open ones, the history, and what can be asked of them.'
);

/** The text files open in this page's editors. */
export type IOpenTexts = IOpenTextsModel;

/** Token of the open text files. */
export const IOpenTexts = new Token<IOpenTexts>(
  `${EXTENSION_ID}:IOpenTexts`,
  'The text files open in this page: their text by path, and the editor views that show it.'
);

/** The agent's changes that await keep or undo. */
export type IReview = IReviewModel;

/** Token of the agent's changes that await keep or undo. */
export const IReview = new Token<IReview>(
  `${EXTENSION_ID}:IReview`,
  'The changes of the agent that await keep or undo: the list, the decision, the way to each.'
);

/** The AI settings that the folder brings along. */
export type IFolderTrust = IFolderTrustModel;

/** Token of the AI settings that the folder brings along. */
export const IFolderTrust = new Token<IFolderTrust>(
  `${EXTENSION_ID}:IFolderTrust`,
  'The AI settings that the folder brings along: the list, and the answers of the user.'
);

/** Where the task threads of the open documents are. */
export type IThreads = IThreadLocations;

/** Token of the places of task threads. */
export const IThreads = new Token<IThreads>(
  `${EXTENSION_ID}:IThreads`,
  'The places of task threads in the open documents, and the way to each.'
);

/** The Word documents that this page shows. */
export type IWordPages = IWordPagesModel;

/** Token of the Word documents that this page shows. */
export const IWordPages = new Token<IWordPages>(
  `${EXTENSION_ID}:IWordPages`,
  'The open Word documents: their texts, selections and marks.'
);
