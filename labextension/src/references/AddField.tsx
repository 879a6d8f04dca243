/** The field that adds a work: an identifier, an address, BibTeX or the text of a reference. */

import * as React from 'react';

import { useTrans } from '../ui/hooks';
import { Button } from '../ui/primitives';

export function AddField(props: {
  busy: boolean;
  add: (text: string) => Promise<void>;
}): React.JSX.Element {
  const trans = useTrans();
  const [text, setText] = React.useState('');
  const submit = async (): Promise<void> => {
    if (text.trim() !== '' && !props.busy) {
      await props.add(text.trim());
      // What was typed since stays.
      setText(now => (now === text ? '' : now));
    }
  };
  return (
    <form
      className="shoulders-References-add"
      onSubmit={event => {
        event.preventDefault();
        void submit();
      }}
    >
      <textarea
        className="shoulders-Input"
        rows={text.includes('\n') ? 4 : 1}
        aria-label={trans.__('Add a work')}
        placeholder={trans.__('DOI, arXiv, ISBN, BibTeX…')}
        title={trans.__(
          'Type or paste a DOI, an arXiv number, an ISBN, the address of a page, a BibTeX entry or an entry of a reference list. Or drop a PDF from the file browser.'
        )}
        spellCheck={false}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (
            event.key === 'Enter' &&
            !event.shiftKey &&
            !event.nativeEvent.isComposing
          ) {
            event.preventDefault();
            void submit();
          }
        }}
      />
      <Button
        kind="primary"
        disabled={props.busy || text.trim() === ''}
        onClick={() => void submit()}
      >
        {props.busy ? trans.__('Adding…') : trans.__('Add')}
      </Button>
    </form>
  );
}
