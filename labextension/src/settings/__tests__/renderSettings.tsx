/** Renders the settings page with a server in memory, for tests. */

import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as React from 'react';

import { FakeSocket, settled } from '../../model/__tests__/fakes';
import type { ISettingsHost } from '../store/settingsHost';
import { SettingsPage, type Section } from '../SettingsPage';
import { SettingsStore } from '../store/settingsStore';
import { FakeApi, trans } from './fakes';

/** Show the page at a section; `prepare` changes the server first. */
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
    serverAddress: 'http://h/user/ada/',
    openPage: () => ({
      go: address => done.push(['page', address]),
      close: () => done.push(['close page'])
    }),
    copy: text => done.push(['copy', text]),
    openDocument: path => done.push(['open', path]),
    openInstructions: async () => {
      done.push(['instructions']);
    },
    openConversation: id => done.push(['conversation', id]),
    openDatabase: () => done.push(['database']),
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

/** Wait until everything started has settled and is rendered. */
export async function act(work: () => void = () => {}): Promise<void> {
  await React.act(async () => {
    work();
    await settled();
  });
}

/** Click a button and wait for the result. */
export const press = async (
  user: { click: (element: Element) => Promise<void> },
  name: string
) => {
  await user.click(screen.getByRole('button', { name }));
  await act();
};
