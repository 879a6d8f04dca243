/** Pictures of the workspace in an answer, read by the authenticated API; never by an address in the text. */

import * as React from 'react';

import { useHost, useTrans } from '../../ui/hooks';

/** Shows an `img` of the sanitiser's: one without `src` names a file by its title. */
export function useImages(): (picture: HTMLImageElement) => void {
  const { picture: read } = useHost();
  const trans = useTrans();
  const known = React.useRef(new Map<string, Promise<string>>());
  React.useEffect(() => {
    const { current: urls } = known;
    return () => {
      urls.forEach(
        url =>
          void url.then(
            made => URL.revokeObjectURL(made),
            () => undefined // There never was a picture.
          )
      );
      urls.clear();
    };
  }, []);
  return React.useCallback(
    picture => {
      const path = picture.title;
      if (picture.hasAttribute('src') || path === '') {
        return;
      }
      picture.alt ||= path;
      const url = known.current.get(path) ?? read(path).then(urlOf);
      known.current.set(path, url);
      url.then(
        source => {
          picture.src = source;
        },
        () => picture.replaceWith(trans.__('[image not shown: %1]', path))
      );
    },
    [read, trans]
  );
}

function urlOf(content: Blob): string {
  return URL.createObjectURL(content);
}
