/** Suggested first messages; a click fills the input. Shown in empty conversations and threads. */

import * as React from 'react';

import { appendToDraft } from '../../model/conversations/draftText';
import { visible } from '../../text/hiddenCharacters';
import { focusComposer, useTabContext, useTrans } from '../../ui/hooks';

export function IdeaButtons(props: {
  ideas: readonly string[];
  onMouseEnter?: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { ideas, onMouseEnter } = props;
  return (
    <div
      className="shoulders-Empty-ideas"
      role="group"
      aria-label={trans.__('Ideas')}
      onMouseEnter={onMouseEnter}
    >
      {ideas.map(idea => (
        <button
          key={idea}
          type="button"
          className="shoulders-Idea"
          onClick={() => {
            const typed = conversations.draft(tab);
            // An idea replaces another idea, but not the user's text.
            const kept = ideas.includes(typed) ? '' : typed;
            conversations.suggest(tab, appendToDraft(kept, idea));
            focusComposer();
          }}
        >
          {visible(idea)}
        </button>
      ))}
    </div>
  );
}
