/** What goes with the next message: kept with the draft; taken from files, the clipboard and drags. */

import * as React from 'react';

import { ApiError, plainError } from '../../client/http';
import type { Attachment } from '../../wire/generated';
import type { ICarried } from '../host-input';
import { useAction, useHost, usePlace, useTrans } from '../use';
import { isPicture, pictureOf } from './images';

/** The attachments of the input, and the ways in. */
export interface IAttachments extends Pick<
  ReturnType<typeof useAction>,
  'busy' | 'error'
> {
  readonly all: readonly Attachment[];
  readonly add: (attachment: Attachment) => void;
  readonly remove: (attachment: Attachment) => void;
  readonly clear: () => void;
  readonly takeFiles: (files: Iterable<File>) => void;
  /** Take what was dragged within the lab. */
  readonly takeCarried: (data: ICarried) => void;
  /** Take what is pasted, unless it is text; whether it was taken. */
  readonly takePasted: (data: DataTransfer) => boolean;
}

export function useAttachments(): IAttachments {
  const host = useHost();
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const { busy, error, run } = useAction();
  const all = conversations.attachments(tab);
  const add = (attachment: Attachment): void =>
    conversations.attach(tab, attachment);
  const made = async (file: File): Promise<void> => {
    if (!isPicture(file)) {
      add({ kind: 'file', path: await host.upload(file) });
      return;
    }
    try {
      add(await pictureOf(file));
    } catch (reason) {
      const words = trans.__('%1 cannot be read as a picture.', file.name);
      console.warn(words, reason);
      throw new ApiError(0, plainError(words, false));
    }
  };
  const takeFiles = (files: Iterable<File>): void => {
    const given = [...files];
    if (given.length > 0) {
      run(() => inTurn(given, made));
    }
  };
  return {
    all,
    busy,
    error,
    add,
    remove: gone =>
      conversations.setAttachments(
        tab,
        all.filter(attachment => attachment !== gone)
      ),
    clear: () => conversations.setAttachments(tab, []),
    takeFiles,
    takeCarried: data =>
      run(async () => (await host.carried(data)).forEach(add)),
    takePasted: data => {
      const text = data.getData('text/plain');
      const cells = host.copiedCells(text);
      cells.forEach(add);
      const files = [...data.files];
      // A table copied from an office program comes as a picture, too: the text is what is meant.
      const taken =
        files.length > 0 && (text === '' || !files.every(isPicture));
      if (cells.length === 0 && taken) {
        takeFiles(files);
      }
      return cells.length > 0 || taken;
    }
  };
}

/** One after the other, so that they keep their order; all are tried, then the first failure is told. */
async function inTurn<T>(
  things: readonly T[],
  act: (thing: T) => Promise<void>
): Promise<void> {
  const failures: unknown[] = [];
  for (const thing of things) {
    await act(thing).catch((reason: unknown) => failures.push(reason));
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}

/** Whether something to be taken is held over the conversation; drops are taken. */
export function useDrop(
  place: React.RefObject<HTMLElement>,
  taken: Pick<IAttachments, 'takeFiles' | 'takeCarried'>,
  closed: boolean
): boolean {
  const [over, setOver] = React.useState(false);
  const latest = React.useRef(taken);
  React.useLayoutEffect(() => {
    latest.current = taken;
  });
  React.useEffect(() => {
    const area = place.current?.closest<HTMLElement>('.shoulders-Conversation');
    if (closed || area === null || area === undefined) {
      return;
    }
    const onDrag = (event: Event): void => {
      const data = carriedBy(event);
      if (data === null) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      setOver(/enter|over$/.test(event.type));
      data.hover();
      if (event.type.endsWith('drop')) {
        data.drop(latest.current);
      }
    };
    DRAGS.forEach(type => area.addEventListener(type, onDrag));
    return () => DRAGS.forEach(type => area.removeEventListener(type, onDrag));
  }, [place, closed]);
  return over;
}

// The browser's own, and Lumino's, with which the lab drags files and cells.
const DRAGS = ['dragenter', 'dragover', 'dragleave', 'drop'].flatMap(type => [
  type,
  `lm-${type}`
]);

interface ICarry {
  /** Say that it may be dropped here. */
  hover: () => void;
  drop: (taken: Pick<IAttachments, 'takeFiles' | 'takeCarried'>) => void;
}

/** A drag of Lumino. */
type LabDrag = Event & {
  mimeData: ICarried;
  proposedAction: string;
  dropAction: string;
};

function carriedBy(event: Event): ICarry | null {
  if ('mimeData' in event) {
    const drag = event as LabDrag; // Lumino sends no other events of these names.
    return {
      hover: () => {
        drag.dropAction = drag.proposedAction;
      },
      drop: taken => taken.takeCarried(drag.mimeData)
    };
  }
  const transfer = event instanceof DragEvent ? event.dataTransfer : null;
  if (transfer?.types.includes('Files') !== true) {
    return null;
  }
  return {
    hover: () => {
      transfer.dropEffect = 'copy';
    },
    drop: taken => taken.takeFiles(transfer.files)
  };
}
