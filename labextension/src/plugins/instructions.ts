/** What a new `_instructions.md` says; its comments are for the user and never sent. Used by `labInput`. */

import type { TranslationBundle } from '@jupyterlab/translation';

/** The template: all of it comments, so that it changes nothing until something is written. */
export function instructionsTemplate(trans: TranslationBundle): string {
  return `# ${trans.__('Instructions')}

<!--
${trans.__('What stands here is told to the AI in every conversation of this workspace, from the next message on.')}
${trans.__('Comments like this one are not sent. Delete the file to have no instructions.')}

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
