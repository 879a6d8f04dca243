/** Files that the bundler imports as text. */

declare module '*.svg?raw' {
  const text: string;
  export default text;
}

declare module '*.css?inline' {
  const text: string;
  export default text;
}

/** The kernel half's own module, which loads the panel. */
declare module '*/kernel/panel/loader.js' {
  import type { IModel } from './protocol';

  const widget: {
    render(place: {
      model: IModel;
      el: HTMLElement;
    }): Promise<(() => void) | undefined>;
  };
  export default widget;
}
