/** A file the agent shared: type and size, a preview where that is safe, and a download button. */

import * as React from 'react';

import { formatSize } from '../../text/numberFormat';
import { readTable } from '../../text/delimitedTable';
import { visible, withoutEscapes } from '../../text/hiddenCharacters';
import type { ArtifactView } from '../../wire/generated';
import {
  Button,
  Disclosure,
  Dots,
  ErrorNote,
  IconButton
} from '../../ui/primitives';
import { useServerAnswer } from '../../ui/useServerAnswer';
import { SandboxedPage } from '../../ui/viewers/SandboxedPage';
import { useAction, useHost, useTabContext, useTrans } from '../../ui/hooks';

export const ArtifactCard = React.memo(function ArtifactCard(props: {
  artifact: ArtifactView;
}): React.JSX.Element {
  const { Icon, save } = useHost();
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, run } = useAction();
  const { artifact } = props;
  const { name, description, media_type, size } = artifact;
  const preview = previewOf(artifact);
  const download = async (): Promise<void> =>
    save(name, await conversations.commands.artifact(tab, name));
  return (
    <section
      className="shoulders-Card shoulders-Artifact"
      aria-label={trans.__('Shared file %1', visible(name))}
    >
      <header className="shoulders-Card-head">
        <Icon name={preview === 'picture' ? 'image' : 'file'} />
        <span className="shoulders-Artifact-name" title={visible(name)}>
          {visible(name)}
        </span>
        <span className="shoulders-Call-note" title={media_type}>
          {formatSize(size)}
        </span>
        <IconButton
          icon="download"
          label={trans.__('Download %1', visible(name))}
          onClick={() => run(download)}
        />
      </header>
      {description !== null && (
        <p className="shoulders-Card-text">{visible(description)}</p>
      )}
      {preview === 'picture' && <Loaded name={name} show={Picture} />}
      {preview === 'table' && <Loaded name={name} show={Table} />}
      {(preview === 'text' || preview === 'page') && (
        <Disclosure
          className="shoulders-Approval-arguments"
          summary={trans.__('Preview')}
        >
          {() => (
            <Loaded
              name={name}
              show={preview === 'text' ? TextBeginning : Page}
            />
          )}
        </Disclosure>
      )}
      {error !== null && <ErrorNote error={error} />}
    </section>
  );
});

type Show = React.ComponentType<{ name: string; content: Blob }>;

/** Fetches the file with the user's rights through the API and shows it. */
function Loaded(props: { name: string; show: Show }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { name, show: Show } = props;
  const [attempt, setAttempt] = React.useState(0);
  const { answer: content, error } = useServerAnswer(
    JSON.stringify([tab, name, attempt]),
    () => conversations.commands.artifact(tab, name)
  );
  if (error !== null) {
    return (
      <ErrorNote error={error}>
        <Button onClick={() => setAttempt(attempt + 1)}>
          {trans.__('Try again')}
        </Button>
      </ErrorNote>
    );
  }
  return content === null ? <Dots /> : <Show name={name} content={content} />;
}

function Picture(props: { name: string; content: Blob }): React.JSX.Element {
  const { name, content } = props;
  const picture = React.useRef<HTMLImageElement>(null);
  React.useEffect(() => {
    const url = URL.createObjectURL(content);
    picture.current?.setAttribute('src', url);
    return () => URL.revokeObjectURL(url);
  }, [content]);
  return (
    <img
      ref={picture}
      className="shoulders-Artifact-picture"
      alt={visible(name)}
    />
  );
}

/** The first rows of a table; other text is shown as text. */
function Table(props: { name: string; content: Blob }): React.JSX.Element {
  const text = useText(props.content);
  if (text === null) {
    return <Dots />;
  }
  const table = readTable(text, separatorOf(props.name) ?? ',');
  return table === null ? (
    <Beginning text={text} />
  ) : (
    <>
      <div className="shoulders-Artifact-table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {table.header.map((cell, index) => (
                <th key={index} scope="col">
                  {visible(cell)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={column}>{visible(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {table.more && <Rest />}
    </>
  );
}

function TextBeginning(props: { content: Blob }): React.JSX.Element {
  const text = useText(props.content);
  return text === null ? <Dots /> : <Beginning text={text} />;
}

function Beginning(props: { text: string }): React.JSX.Element {
  const { text, whole } = textPreview(props.text);
  return (
    <>
      <pre className="shoulders-Plain" tabIndex={0}>
        {visible(withoutEscapes(text))}
      </pre>
      {!whole && <Rest />}
    </>
  );
}

function Rest(): React.JSX.Element {
  const trans = useTrans();
  return (
    <p className="shoulders-Card-remark">
      {trans.__(
        'Only the beginning is shown. Download the file to see the rest.'
      )}
    </p>
  );
}

function Page(props: { name: string; content: Blob }): React.JSX.Element {
  const html = useText(props.content);
  return html === null ? (
    <Dots />
  ) : (
    <SandboxedPage html={html} title={visible(props.name)} />
  );
}

function useText(content: Blob): string | null {
  const [text, setText] = React.useState<string | null>(null);
  React.useEffect(() => {
    let gone = false;
    void content.text().then(read => {
      if (!gone) {
        setText(read);
      }
    });
    return () => {
      gone = true;
    };
  }, [content]);
  return text;
}

/** `page` is HTML in a sandboxed frame; `none` can only be saved. */
export type Preview = 'picture' | 'table' | 'text' | 'page' | 'none';

/** Larger files are not previewed; in bytes. */
const MAX_BYTES = {
  picture: 8_000_000,
  table: 8_000_000,
  text: 1_000_000,
  page: 2_000_000
};

/** Longest text shown, in characters. */
const MAX_CHARACTERS = 20_000;

const PICTURE = /^image\/(png|jpeg|gif|webp|svg\+xml)$/;
const TEXT =
  /^text\/|^application\/(json|xml|yaml|toml|javascript|x-(sh|python|yaml|ipynb\+json)|sql)$/;
const TEXT_NAME = /\.(md|txt|json|ya?ml|toml|py|r|jl|sql|sh|log|ini)$/i;

/** The preview for a file with this type, name and size. */
export function previewOf(file: {
  media_type: string;
  name: string;
  size: number;
}): Preview {
  const kind = kindOf(file.media_type, file.name);
  return kind !== 'none' && file.size <= MAX_BYTES[kind] ? kind : 'none';
}

function kindOf(mediaType: string, name: string): Preview {
  if (PICTURE.test(mediaType)) {
    return 'picture';
  }
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') {
    return 'page';
  }
  if (separatorOf(name) !== null) {
    return 'table';
  }
  return TEXT.test(mediaType) || TEXT_NAME.test(name) ? 'text' : 'none';
}

/** The separator of a table file. */
export function separatorOf(name: string): ',' | '\t' | null {
  const [, kind] = /\.(csv|tsv)$/i.exec(name) ?? [];
  return kind === undefined ? null : kind.toLowerCase() === 'csv' ? ',' : '\t';
}

/** The beginning of a text, and whether it is the whole text. */
export function textPreview(text: string): { text: string; whole: boolean } {
  return {
    text: text.slice(0, MAX_CHARACTERS),
    whole: text.length <= MAX_CHARACTERS
  };
}
