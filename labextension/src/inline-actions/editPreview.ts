/** Previews a change in the editor of its text. Used by the prompts and by *Fix & run*. */

import type { CodeEditor } from '@jupyterlab/codeeditor';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';

import {
  hasProposalView,
  proposalView,
  showProposal
} from '../editor/proposalView';
import type { ITextProposal } from '../text/proposedText';

/** Show a change, or remove it; leaves an editor alone that never showed one. */
export function preview(
  editor: CodeEditor.IEditor | null,
  proposal: ITextProposal | null
): void {
  if (!(editor instanceof CodeMirrorEditor) || editor.isDisposed) {
    return;
  }
  if (!hasProposalView(editor.editor)) {
    if (proposal === null) {
      return;
    }
    editor.injectExtension(proposalView());
  }
  showProposal(editor.editor, proposal);
}
