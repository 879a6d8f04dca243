/** Hands a file to the browser. Used by the page around the panel, the lab's or a widget's. */

/** A download has begun by then, in ms. */
const SAVE_TIME = 60_000;

/** Hand a file to the browser as a download. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), SAVE_TIME);
}
