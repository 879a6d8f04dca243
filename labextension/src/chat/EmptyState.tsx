/** Before the first message: a greeting, ideas that fit what is open, and ways on without a model. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ISituation } from './host';
import { ErrorNote } from './parts';
import { Setup } from './Setup';
import { focusField, useHost, usePlace, useSituation, useTrans } from './use';

export function EmptyState(): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const situation = useSituation();
  const { status, error } = conversations;
  return (
    <div className="shoulders-Empty">
      <div className="shoulders-Empty-greeting">
        <Icon name="spark" />
        <h2>{trans.__('What shall we work on?')}</h2>
        <p>
          {trans.__(
            'I read, edit and run the notebook you have open. You see every step, and can undo it.'
          )}
        </p>
      </div>
      {error !== null && <ErrorNote error={error} />}
      {status?.models === 'none' ? (
        <Setup />
      ) : (
        <div className="shoulders-Empty-ideas">
          {ideas(situation, trans).map(idea => (
            <button
              key={idea}
              type="button"
              className="shoulders-Idea"
              onClick={() => {
                conversations.suggest(tab, idea);
                focusField();
              }}
            >
              {idea}
            </button>
          ))}
        </div>
      )}
      {status?.models === 'demo' && <Setup quiet />}
    </div>
  );
}

function ideas(situation: ISituation, trans: TranslationBundle): string[] {
  if (situation.document?.endsWith('.ipynb') !== true) {
    return [
      trans.__('What can you do for me?'),
      trans.__('Which notebooks are here, and what are they about?')
    ];
  }
  return [
    situation.cell?.hasError === true
      ? trans.__('Explain this error and fix it')
      : trans.__('Find and fix the error in this notebook'),
    trans.__('Summarise this notebook'),
    trans.__('Plot a column of the dataframe'),
    trans.__('Tidy up the imports')
  ];
}
