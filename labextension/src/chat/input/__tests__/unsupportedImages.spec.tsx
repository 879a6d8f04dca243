/** Warning about images for a model that cannot see them. */

import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { model } from '../../../model/__tests__/fakes';
import type { Attachment } from '../../../wire/generated';
import { isImage } from '../imageAttachments';
import { act, showPanel } from '../../__tests__/harness';

const IMAGE: Attachment = {
  kind: 'image',
  media_type: 'image/png',
  data: 'AA==',
  blob: null
};
const NOTE = 'Name of a/blind cannot see images.';

async function withTwoModels() {
  const shown = await showPanel([], server => {
    server.modelList = {
      ...server.modelList,
      models: [
        model('a/blind', { images: false }),
        model('a/seeing', { images: true })
      ]
    };
  });
  const { conversations } = shown;
  const { key } = conversations.active;
  await act(() => conversations.setModel(key, 'a/blind'));
  return { ...shown, key };
}

test('are said to be unseen as long as they are attached, and the model is the same', async () => {
  const { conversations, key } = await withTwoModels();
  expect(screen.queryByText(NOTE)).toBeNull();
  await act(() => conversations.attach(key, IMAGE));
  expect(screen.getByText(NOTE)).toBeTruthy();
  await act(() => conversations.setModel(key, 'a/seeing'));
  expect(screen.queryByText(NOTE)).toBeNull();
  await act(() => conversations.setModel(key, 'a/blind'));
  expect(screen.getByText(NOTE)).toBeTruthy();
  await act(() => conversations.setAttachments(key, []));
  expect(screen.queryByText(NOTE)).toBeNull();
});

test('the list of models is a click away', async () => {
  const { conversations, key } = await withTwoModels();
  await act(() => conversations.attach(key, IMAGE));
  await act(
    () =>
      void fireEvent.click(
        screen.getByRole('button', { name: 'Choose another model' })
      )
  );
  expect(screen.getByRole('listbox', { name: 'Models' })).toBeTruthy();
});

test.each([
  [IMAGE, true],
  [{ kind: 'file', path: 'plots/a.PNG' }, true],
  [{ kind: 'file', path: 'a.csv' }, false],
  [{ kind: 'folder', path: 'pictures.png' }, false]
] as const)('%j is an image: %s', (attachment, expected) => {
  expect(isImage(attachment)).toBe(expected);
});
