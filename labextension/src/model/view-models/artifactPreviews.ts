/** How a shared file may be shown. Pure; used by the artifact card. */

/** `page` is HTML in a frame that can do nothing; `none` can only be saved. */
export type Preview = 'picture' | 'table' | 'text' | 'page' | 'none';

/** Larger files are not shown, only saved; in bytes. */
const LARGEST = {
  picture: 8_000_000,
  table: 8_000_000,
  text: 1_000_000,
  page: 2_000_000
};

/** Characters of a text that are shown. */
const SHOWN = 20_000;

const PICTURE = /^image\/(png|jpeg|gif|webp|svg\+xml)$/;
const TEXT =
  /^text\/|^application\/(json|xml|yaml|toml|javascript|x-(sh|python|yaml|ipynb\+json)|sql)$/;
const TEXT_NAME = /\.(md|txt|json|ya?ml|toml|py|r|jl|sql|sh|log|ini)$/i;

/** The way to show a file of this type, name and size. */
export function previewOf(file: {
  media_type: string;
  name: string;
  size: number;
}): Preview {
  const kind = kindOf(file.media_type, file.name);
  return kind !== 'none' && file.size <= LARGEST[kind] ? kind : 'none';
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

/** What separates the cells of a table file. */
export function separatorOf(name: string): ',' | '\t' | null {
  const [, kind] = /\.(csv|tsv)$/i.exec(name) ?? [];
  return kind === undefined ? null : kind.toLowerCase() === 'csv' ? ',' : '\t';
}

/** The beginning of a text, and whether that is all. */
export function beginning(text: string): { text: string; whole: boolean } {
  return { text: text.slice(0, SHOWN), whole: text.length <= SHOWN };
}
