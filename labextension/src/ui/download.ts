/** Downloads a file through the browser. Used by the hosts of the lab panel and the widget. */

/** Time for the download to start, in ms. */
const START_TIME = 60_000;

/** Save a blob as a download. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), START_TIME);
}
