/** Lines and columns of offsets, as the lab's editors count them. Pure. */

/** The line an offset is in, from 1. */
export function lineAt(source: string, offset: number): number {
  let line = 1;
  let at = source.indexOf('\n');
  while (at >= 0 && at < offset) {
    line += 1;
    at = source.indexOf('\n', at + 1);
  }
  return line;
}
