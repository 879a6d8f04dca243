import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { ILatexTypesetter } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IHttpClient } from '../../client/http';
import type { IFolderTrust } from '../../host/folderTrust';
import type { IReview } from '../../host/review';
import type { IThreadLocations } from '../../host/threadLocations';
import type { IWordPages } from '../../live-documents/wordPages';

/** Services of the application used by the host; null for those that Notebook may lack. */
export interface ILabParts {
  readonly app: JupyterFrontEnd;
  readonly http: IHttpClient;
  readonly documents: IDocumentManager;
  readonly languages: IEditorLanguageRegistry;
  readonly notebooks: INotebookTracker | null;
  readonly labShell: ILabShell | null;
  readonly editors: IEditorTracker | null;
  readonly words: IWordPages | null;
  readonly review: IReview | null;
  readonly threads: IThreadLocations | null;
  readonly folderTrust: IFolderTrust | null;
  readonly latex: ILatexTypesetter | null;
  readonly trans: TranslationBundle;
}
