/**
 * Opens the user's instructions and has the template for a new file; its comments are for the user and never sent.
 * Used by the hosts of the panel and of the settings page.
 */

import type { IDocumentManager } from '@jupyterlab/docmanager';
import { ServerConnection, type Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

const INSTRUCTIONS = '_instructions.md';

/** Open the instructions in an editor, created from the template if missing. Rejects as the contents manager does. */
export async function openInstructions(
  contents: Contents.IManager,
  documents: IDocumentManager,
  trans: TranslationBundle
): Promise<void> {
  if (!(await isThere(contents))) {
    const content = instructionsTemplate(trans);
    const model = { type: 'file', format: 'text', content } as const;
    await contents.save(INSTRUCTIONS, model);
  }
  documents.openOrReveal(INSTRUCTIONS, 'Editor');
}

async function isThere(contents: Contents.IManager): Promise<boolean> {
  try {
    await contents.get(INSTRUCTIONS, { content: false });
    return true;
  } catch (error) {
    if (
      error instanceof ServerConnection.ResponseError &&
      error.response.status === 404
    ) {
      return false;
    }
    throw error;
  }
}

/** The template: comments only, so that it changes nothing until the user writes something. */
export function instructionsTemplate(trans: TranslationBundle): string {
  return `# ${trans.__('Instructions')}

<!--
${trans.__('The AI gets these instructions in every conversation in this workspace, from the next message on.')}
${trans.__('Comments like this one are not sent. Delete the file to remove all instructions.')}

${trans.__('Examples:')}

- ${trans.__('Use polars, not pandas.')}
- ${trans.__('Amounts are in euros; the year begins in April.')}
- ${trans.__('Answer in German, comment code in English.')}

${trans.__('Text below a block like this one applies only where the block says:')}

---
globs: ["reports/*.ipynb"]
languages: [r]
---
${trans.__('Use the tidyverse.')}
-->
`;
}
