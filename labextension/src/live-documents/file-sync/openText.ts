/**
 * One text file open in this page's editors, as the server may read and change it. Edits go to the shared
 * model, as one step of its undo; nothing here saves or reverts anything.
 */

import type { YFile } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';

import { textVersion } from '../../wire/versions';
import { textChanges, type ITextChange } from '../../text/edits';

/** The lab's context of a text file; all its views of one kind share it. */
export type TextContext = DocumentRegistry.CodeContext;

/** The mark of UTF-8 that some files begin with; no part of their text. */
const BOM = '\ufeff';

/** Changed characters up to which a change is made as small as can be; beyond, in whole lines. */
const EXACT = 20_000;

/** The two units of a character beyond the first 65 536. */
const HIGH = /[\ud800-\udbff]/;
const LOW = /[\udc00-\udfff]/;

/** What makes `after` of `before` in whole lines, both with a newline at their end. */
export type LineChanges = (before: string, after: string) => ITextChange[];

/** A text file seen through the operations of the live-document protocol. */
export class OpenText {
  constructor(readonly context: TextContext) {}

  /** Compares line by line, once that is loaded; until then a large change is one piece. */
  lineChanges: LineChanges | null = null;

  /** Workspace-relative path, without a drive. */
  get path(): string {
    return this.context.localPath;
  }

  /** Whether something is unsaved; what is in a room is the room's to save. */
  get dirty(): boolean {
    const { model } = this.context;
    return model.dirty && !model.collaborative;
  }

  /** The contents manager's stamp of the last save or load this page knows of. */
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

  /** Make it this text, as one step of the undo and with as little change as possible. */
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
      // Last change first: the offsets are those of the text before all of them.
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

/** A text as the server knows it: without the mark, each line end a newline character. */
export function normalizeText(source: string): string {
  const text = source.startsWith(BOM) ? source.slice(BOM.length) : source;
  // The lab replaces pairs when it loads a file: what is left are single characters.
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** What turns one text into another: exact where that costs little, else in whole lines. */
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

/** What is between that which both texts have at the beginning and at the end. */
function inOnePiece(before: string, after: string): ITextChange {
  let from = 0;
  const shorter = Math.min(before.length, after.length);
  while (from < shorter && before[from] === after[from]) {
    from += 1;
  }
  // A character of two units is not taken apart.
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

/** A change of whole lines of a text with a newline at its end, as a change of the text itself. */
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
