/** The page of the settings over a server in memory, for its tests. */

import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as React from 'react';

import { FakeSocket, settled } from '../../model/__tests__/fakes';
import type { ISettingsHost } from '../store/settingsHost';
import { SettingsPage, type Section } from '../SettingsPage';
import { SettingsStore } from '../store/settingsStore';
import { FakeApi, trans } from './fakes';

/** The page on one of its parts; `prepare` changes the server before it is asked. */
export async function show(
  section: Section,
  prepare: (api: FakeApi) => void = () => {}
) {
  const api = new FakeApi();
  prepare(api);
  const socket = new FakeSocket();
  const store = new SettingsStore(api, socket, api.folder.store(socket));
  const done: unknown[][] = [];
  const host: ISettingsHost = {
    trans,
    Icon: ({ name }) => <i data-icon={name} />,
    confirm: async (...asked) => {
      done.push(['confirm', ...asked]);
      return true;
    },
    openDocument: path => done.push(['open', path]),
    openInstructions: async () => {
      done.push(['instructions']);
    },
    openConversation: id => done.push(['conversation', id]),
    openEditor: what => done.push(['editor', what])
  };
  const Page = (): React.JSX.Element => {
    const [part, setPart] = React.useState(section);
    return (
      <SettingsPage
        host={host}
        store={store}
        section={part}
        onSection={setPart}
      />
    );
  };
  const page = render(<Page />);
  await act();
  return { ...page, api, socket, store, done, user: userEvent.setup() };
}

/** Let what was started come to rest and be rendered. */
export async function act(work: () => void = () => {}): Promise<void> {
  await React.act(async () => {
    work();
    await settled();
  });
}

/** Click a button and wait for what comes of it. */
export const press = async (
  user: { click: (element: Element) => Promise<void> },
  name: string
) => {
  await user.click(screen.getByRole('button', { name }));
  await act();
};
