/** SVG shapes that JupyterLab shows before the panel is loaded, 24 units wide; the others are in `shapes`. */

/** A spark: the agent. Also the panel's icon in the side bar. */
export const SPARK_SHAPE =
  '<path d="M10.5 3.5 12.4 9a2.5 2.5 0 0 0 1.6 1.6l5.5 1.9-5.5 1.9a2.5 2.5 0 0 0-1.6 1.6l-1.9 5.5-1.9-5.5A2.5 2.5 0 0 0 7 14.400l-5.500-1.900L7 10.600A2.500 2.500 0 0 0 8.600 9z"/><path d="m18.500 2 .9 2.600L22 5.500l-2.600.9-.9 2.600-.9-2.600L15 5.500l2.600-.9z"/>';

/** A speech bubble: a thread. Also in the cell toolbar. */
export const THREAD_SHAPE =
  '<path d="M20 3H4a2 2 0 0 0-2 2v16l4-4h14a2 2 0 0 0 2-2V5a2 2 0 0 0-2-2zm0 12H5.200L4 16.200V5h16z"/>';

/** An SVG image of such shapes. */
export const svgOf = (shapes: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">${shapes}</g></svg>`;

/** A book: the References panel in the side bar. */
export const QUOTE_SHAPE =
  '<path d="M6 2a3 3 0 0 0-3 3v14a3 3 0 0 0 3 3h15V2zm0 18a1 1 0 0 1 0-2h13v2zm13-4H6c-.350 0-.690.060-1 .170V5a1 1 0 0 1 1-1h2v8l3-2 3 2V4h5z"/>';
