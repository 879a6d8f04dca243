/**
 * The blocks of a Word page: headings, paragraphs, lists, tables. Showing a changed document keeps the blocks before
 * and after the changes, so that the page stays where it is. Used by `PageView`.
 */

interface IBlock {
  readonly node: ChildNode;
  /** Its HTML before anything was added to it. */
  readonly html: string;
}

export class PageBlocks {
  constructor(private readonly body: HTMLElement) {}

  /** Show a document; returns the added elements. */
  show(content: DocumentFragment): Element[] {
    const before = this.blocks;
    const after = [...content.childNodes].map(node => ({
      node,
      html: node instanceof Element ? node.outerHTML : (node.nodeValue ?? '')
    }));
    if (before.length === 0) {
      this.body.replaceChildren(); // A message.
    }
    const start = sameBlocks(before, after);
    const end = sameBlocks(
      before.slice(start).reverse(),
      after.slice(start).reverse()
    );
    const isEnd = (blocks: readonly IBlock[]): number => blocks.length - end;
    const kept = before.slice(isEnd(before));
    const added = after.slice(start, isEnd(after));
    before.slice(start, isEnd(before)).forEach(({ node }) => node.remove());
    const next = kept[0]?.node ?? null;
    for (const { node } of added) {
      this.body.insertBefore(node, next);
    }
    this.blocks = [...before.slice(0, start), ...added, ...kept];
    return added.flatMap(({ node }) => (node instanceof Element ? node : []));
  }

  private blocks: readonly IBlock[] = [];
}

/** Number of equal blocks at the start. */
function sameBlocks(
  ones: readonly IBlock[],
  others: readonly IBlock[]
): number {
  const limit = Math.min(ones.length, others.length);
  let count = 0;
  while (count < limit && ones[count]?.html === others[count]?.html) {
    count += 1;
  }
  return count;
}
