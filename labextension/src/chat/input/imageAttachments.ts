/** Pictures on their way into a message: made small enough for a model before they leave the page. */

import type { Attachment, ImageAttachment } from '../../wire/generated';

/** Pixels of the longer side that a model sees at most; what is larger is made smaller by every provider. */
const SIDE = 1568;
/** Bytes that go as they are. */
const SMALL = 400_000;
const QUALITY = 0.85;
/** What models read. */
const READ = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Whether a file is a picture a model can read, maybe made over. */
export function isPicture({ type }: Pick<File, 'type'>): boolean {
  return READ.has(type) || type === 'image/bmp';
}

/** Whether a model needs eyes for an attachment: a picture, or a file of the workspace that is one. */
export function isImage(attachment: Attachment): boolean {
  return (
    attachment.kind === 'image' ||
    (attachment.kind === 'file' &&
      /\.(png|jpe?g|gif|webp)$/i.test(attachment.path))
  );
}

/** The picture as an attachment. Rejects when the browser cannot read it. */
export async function pictureOf(file: Blob): Promise<ImageAttachment> {
  const bitmap = await createImageBitmap(file);
  try {
    const scale = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
    const fits = scale === 1 && file.size <= SMALL && READ.has(file.type);
    return await attached(fits ? file : await drawn(bitmap, scale));
  } finally {
    bitmap.close();
  }
}

/** The picture in its new size: without loss when that is small, as photographs are otherwise. */
async function drawn(bitmap: ImageBitmap, scale: number): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const pen = canvas.getContext('2d');
  if (pen === null) {
    throw new Error('The browser gives no canvas.');
  }
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const exact = await encoded(canvas, 'image/png');
  if (exact.size <= SMALL) {
    return exact;
  }
  // Photographs know no transparency: white behind, as on paper.
  pen.globalCompositeOperation = 'destination-over';
  pen.fillStyle = 'white';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  return encoded(canvas, 'image/jpeg');
}

function encoded(canvas: HTMLCanvasElement, type: string): Promise<Blob> {
  return new Promise((resolve, reject) => {
    const done = (blob: Blob | null): void => {
      if (blob === null) {
        reject(new Error('The browser cannot write this picture.'));
      } else {
        resolve(blob);
      }
    };
    canvas.toBlob(done, type, QUALITY);
  });
}

function attached(blob: Blob): Promise<ImageAttachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error ?? new Error('Not readable.'));
    reader.onload = () => {
      const { result } = reader;
      const data = typeof result === 'string' ? result.split(',')[1] : '';
      resolve({
        kind: 'image',
        media_type: blob.type,
        data: data ?? '',
        blob: null
      });
    };
    reader.readAsDataURL(blob);
  });
}
