/** Shown before the first message: a greeting or the thread's quote, ideas, and model setup if there is no model. */

import * as React from 'react';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { VariableSummary, Anchor } from '../../wire/generated';
import type { IEditorContext } from '../../host/chatHost';
import { IdeaButtons } from './IdeaButtons';
import { ideasFor } from './promptIdeas';
import { ErrorNote } from '../../ui/primitives';
import { ModelSetup } from './ModelSetup';
import {
  useHost,
  useIsDemo,
  useTabContext,
  useEditorContext,
  useTrans
} from '../../ui/hooks';
import { legible } from '../../text/hiddenCharacters';
import { quoteText } from '../threads/labels';

const NONE: readonly VariableSummary[] = [];

export function EmptyState(): React.JSX.Element {
  const { conversations, tab } = useTabContext();
  const { status, error } = conversations;
  const anchor = conversations.anchor(tab);
  return (
    <div className="shoulders-Empty">
      {anchor === null ? <Greeting /> : <ThreadStart anchor={anchor} />}
      {error !== null && <ErrorNote error={error} />}
      {status?.models === 'none' ? (
        <ModelSetup />
      ) : (
        anchor === null && <Ideas />
      )}
      {status?.models === 'demo' && <ModelSetup quiet />}
    </div>
  );
}

function Greeting(): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  return (
    <div className="shoulders-Empty-greeting">
      <Icon name="spark" />
      <h2>{trans.__('What shall we work on?')}</h2>
      <p>
        {trans.__(
          'I can read, edit and run your open notebook. You see every step and can undo it.'
        )}
      </p>
    </div>
  );
}

function Ideas(): React.JSX.Element {
  const trans = useTrans();
  const { cellsOf } = useHost();
  const editorContext = useEditorContext();
  const { variables, refresh } = useVariables(editorContext);
  const isDemo = useIsDemo();
  const cells = cellsOf(editorContext.document ?? '');
  const ideas = ideasFor({ editorContext, cells, variables, isDemo }, trans);
  // A cell may have run since.
  return <IdeaButtons ideas={ideas} onMouseEnter={refresh} />;
}

/** Variables in the kernel of the active notebook; `refresh` reads them again. */
function useVariables({ document }: IEditorContext): {
  variables: readonly VariableSummary[];
  refresh: () => void;
} {
  const { lookups } = useHost();
  const [known, setKnown] = React.useState({ document, variables: NONE });
  const refresh = React.useCallback(() => {
    if (document?.endsWith('.ipynb') === true) {
      lookups.variables(document).then(
        ({ variables }) => setKnown({ document, variables }),
        (reason: unknown) => {
          console.warn('Ideas do without the variables:', reason);
        }
      );
    }
  }, [lookups, document]);
  React.useEffect(refresh, [refresh]);
  const variables = known.document === document ? known.variables : NONE;
  return { variables, refresh };
}

/** Longest quote shown, in characters. */
const MAX_QUOTE = 2000;

function ThreadStart({ anchor }: { anchor: Anchor }): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  return (
    <>
      <div className="shoulders-Empty-greeting">
        <Icon name="thread" />
        <h2>{heading(anchor, trans)}</h2>
      </div>
      {anchor.quote !== '' && (
        <pre className="shoulders-ThreadStart-quote" tabIndex={0}>
          {legible(quoteText(anchor, MAX_QUOTE))}
        </pre>
      )}
      <IdeaButtons ideas={ideasAt(anchor, trans)} />
    </>
  );
}

function heading({ target }: Anchor, trans: TranslationBundle): string {
  switch (target) {
    case 'source':
      return trans.__('What about this text?');
    case 'cell':
      return trans.__('What about this cell?');
    case 'output':
      return trans.__('What about this output?');
  }
}

function ideasAt({ target }: Anchor, trans: TranslationBundle): string[] {
  return target === 'output'
    ? [
        trans.__('Explain this output.'),
        trans.__('Is this result plausible?'),
        trans.__('Make this easier to read.')
      ]
    : [
        trans.__('Explain this.'),
        trans.__('Simplify this.'),
        trans.__('Find mistakes in this.'),
        trans.__('Document this.')
      ];
}
