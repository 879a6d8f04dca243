/** Images as attachments: scaled down for models before they leave the page. */

import type { Attachment, ImageAttachment } from '../../wire/generated';

/** Longest side that models use, in px; providers scale larger images down. */
const MAX_SIDE = 1568;
/** Files up to this size are sent unchanged, in bytes. */
const MAX_UNCHANGED_BYTES = 400_000;
const QUALITY = 0.85;
/** Formats that models read. */
const MODEL_FORMATS = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp'
]);

/** Whether a file is an image that can be sent, possibly converted. */
export function isSupportedImage({ type }: Pick<File, 'type'>): boolean {
  return MODEL_FORMATS.has(type) || type === 'image/bmp';
}

/** Whether an attachment is an image, or a workspace file that is one. */
export function isImage(attachment: Attachment): boolean {
  return (
    attachment.kind === 'image' ||
    (attachment.kind === 'file' &&
      /\.(png|jpe?g|gif|webp)$/i.test(attachment.path))
  );
}

/** The image as an attachment. Rejects if the browser cannot read it. */
export async function toImageAttachment(file: Blob): Promise<ImageAttachment> {
  const bitmap = await createImageBitmap(file);
  try {
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
    const fits =
      scale === 1 &&
      file.size <= MAX_UNCHANGED_BYTES &&
      MODEL_FORMATS.has(file.type);
    return await attached(fits ? file : await redraw(bitmap, scale));
  } finally {
    bitmap.close();
  }
}

/** The image scaled: lossless if that is small, else as JPEG. */
async function redraw(bitmap: ImageBitmap, scale: number): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const pen = canvas.getContext('2d');
  if (pen === null) {
    throw new Error('The browser gives no canvas.');
  }
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const exact = await encoded(canvas, 'image/png');
  if (exact.size <= MAX_UNCHANGED_BYTES) {
    return exact;
  }
  // JPEG has no transparency: use a white background.
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
