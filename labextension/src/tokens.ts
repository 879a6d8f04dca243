/** The names other parts of the page know this extension by. */

/** Id of the extension: the prefix of every plugin id, and its settings' namespace. */
export const EXTENSION_ID = 'jupyter-ai-shoulders';
