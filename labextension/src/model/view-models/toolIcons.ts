/** Icon names of tool calls and activities. */

/** An icon of a tool call or an activity. */
export type ToolIcon =
  | 'eye'
  | 'pencil'
  | 'file-add'
  | 'delete'
  | 'folder'
  | 'terminal'
  | 'search'
  | 'run'
  | 'book'
  | 'check'
  | 'file'
  | 'question'
  | 'link'
  | 'tool';
