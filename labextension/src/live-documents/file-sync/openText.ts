/**
 * One text file open in this page's editors, as the server reads and changes it. Edits go to the shared model in one
 * undo step; nothing here saves or reverts anything.
 */

import type { YFile } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';

import { textVersion } from '../../wire/versions';
import { textChanges, type ITextChange } from '../../text/edits';

/** JupyterLab's context of a text file; all its views of one kind share it. */
export type TextContext = DocumentRegistry.CodeContext;

/** The UTF-8 byte order mark; not part of a file's text. */
const BOM = '\ufeff';

/** Changes up to this many characters are made minimal; larger ones replace whole lines. */
const EXACT = 20_000;

/** The surrogates of a character above U+FFFF. */
const HIGH = /[\ud800-\udbff]/;
const LOW = /[\udc00-\udfff]/;

/** Changes of whole lines that turn `before` into `after`; both end in a newline. */
export type LineChanges = (before: string, after: string) => ITextChange[];

/** A text file seen through the operations of the live-document protocol. */
export class OpenText {
  constructor(readonly context: TextContext) {}

  /** Compares by lines, once loaded; until then a large change is one piece. */
  lineChanges: LineChanges | null = null;

  /** Workspace-relative path, without a drive. */
  get path(): string {
    return this.context.localPath;
  }

  /** Whether there are unsaved changes; a room saves its own. */
  get dirty(): boolean {
    const { model } = this.context;
    return model.dirty && !model.collaborative;
  }

  /** Time of the last save or load this page knows of, as the contents manager reports it. */
  get savedAt(): string | null {
    return this.context.contentsModel?.last_modified ?? null;
  }

  /** Whether the file can be changed at all. */
  get writable(): boolean {
    const { model, contentsModel } = this.context;
    return !model.readOnly && contentsModel?.writable !== false;
  }

  /** The text; every line ends in a newline character. */
  get text(): string {
    return normalizeText(this.shared.getSource());
  }

  get version(): string {
    return textVersion(this.text);
  }

  /** Replace the text in one undo step with minimal changes. */
  replace(text: string): void {
    const { shared } = this;
    const source = shared.getSource();
    const offset = source.startsWith(BOM) ? BOM.length : 0;
    const changes = smallChanges(normalizeText(source), text, this.lineChanges);
    if (changes.length === 0) {
      return;
    }
    shared.undoManager.stopCapturing();
    shared.transact(() => {
      // Last change first: offsets refer to the text before all changes.
      for (const { from, to, insert } of changes.reverse()) {
        shared.updateSource(from + offset, to + offset, insert);
      }
    });
    shared.undoManager.stopCapturing();
    this.context.model.dirty = true;
  }

  private get shared(): YFile {
    // The model's shared text is the YFile; its interface type lacks the undo manager.
    return this.context.model.sharedModel as unknown as YFile;
  }
}

/** A text as the server knows it: without byte order mark, with newlines as line endings. */
export function normalizeText(source: string): string {
  const text = source.startsWith(BOM) ? source.slice(BOM.length) : source;
  // JupyterLab replaces pairs when it loads a file: only single characters remain.
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** Changes that turn one text into another: minimal where that is cheap, else of whole lines. */
export function smallChanges(
  before: string,
  after: string,
  lineChanges: LineChanges | null
): ITextChange[] {
  const piece = inOnePiece(before, after);
  if (Math.max(piece.to - piece.from, piece.insert.length) <= EXACT) {
    return textChanges(before, after);
  }
  return lineChanges === null
    ? [piece]
    : lineChanges(before, after).map(change => within(before, change));
}

/** One change between the common beginning and the common end of both texts. */
function inOnePiece(before: string, after: string): ITextChange {
  let from = 0;
  const shorter = Math.min(before.length, after.length);
  while (from < shorter && before[from] === after[from]) {
    from += 1;
  }
  // Do not split a surrogate pair.
  from -= from > 0 && HIGH.test(before.charAt(from - 1)) ? 1 : 0;
  let end = 0;
  while (
    end < shorter - from &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  end -= end > 0 && LOW.test(before.charAt(before.length - end)) ? 1 : 0;
  return {
    from,
    to: before.length - end,
    insert: after.slice(from, after.length - end)
  };
}

/** Convert a whole-line change of a text with a final newline to a change of the text itself. */
function within(text: string, { from, to, insert }: ITextChange): ITextChange {
  const end = text.length;
  if (to <= end) {
    return { from, to, insert };
  }
  if (insert === '') {
    return { from: Math.max(from - 1, 0), to: end, insert };
  }
  const lines = insert.slice(0, -1);
  return from > end
    ? { from: end, to: end, insert: `\n${lines}` }
    : { from, to: end, insert: lines };
}
