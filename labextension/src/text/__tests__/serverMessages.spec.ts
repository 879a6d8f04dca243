import {
  nullTranslator,
  TranslationManager,
  type TranslationBundle
} from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { serverText } from '../serverMessages';

const TEXTS: Readonly<Record<string, string>> = {
  'Run all cells': 'Alle Zellen ausführen',
  'Edit cell %1': 'Zelle %1 bearbeiten',
  'Move cell %1 %2': 'Zelle %1 %2 verschieben',
  'below cell %1': 'unter Zelle %1',
  'There is no cell %1 in %2.': 'In %2 gibt es keine Zelle %1.',
  'Read it again.': 'Lesen Sie es noch einmal.',
  'the key was not accepted': 'der Schlüssel wurde nicht angenommen',
  '100 %% of %1': '100 %% von %1',
  'One. Two.': 'Eins. Zwei.'
};

/** JupyterLab's own bundle with a language pack of these texts. */
async function german(): Promise<TranslationBundle> {
  const messages = Object.fromEntries(
    Object.entries(TEXTS).map(([id, text]) => [`server\u0004${id}`, [text]])
  );
  const about = {
    domain: 'jupyter_ai_shoulders',
    language: 'de-DE',
    plural_forms: 'nplurals=2; plural=(n != 1);'
  };
  const data = { jupyter_ai_shoulders: { '': about, ...messages } };
  const manager = new TranslationManager('', '', undefined, {
    fetch: async () => ({ message: '', data })
  } as never); // The manager only fetches.
  await manager.fetch('de_DE');
  return manager.load('jupyter_ai_shoulders');
}

describe('a text of the server', () => {
  it.each([
    ['Run all cells', 'Alle Zellen ausführen'],
    ['Edit cell 4', 'Zelle 4 bearbeiten'],
    ['Move cell 4 below cell 2', 'Zelle 4 unter Zelle 2 verschieben'],
    [
      'There is no cell 9 in a %2 b.ipynb.',
      'In a %2 b.ipynb gibt es keine Zelle 9.'
    ],
    ['100 % of it', '100 % von it'],
    // Several messages in a row, such as a reason with notes.
    [
      'There is no cell 9 in a.ipynb. Read it again.',
      'In a.ipynb gibt es keine Zelle 9. Lesen Sie es noch einmal.'
    ],
    [
      'Unknown words. Read it again.',
      'Unknown words. Lesen Sie es noch einmal.'
    ],
    ['Read it again. One. Two.', 'Lesen Sie es noch einmal. Eins. Zwei.'],
    // A provider's message follows its name.
    [
      'Anthropic: the key was not accepted.',
      'Anthropic: der Schlüssel wurde nicht angenommen.'
    ],
    ['Whatever else', 'Whatever else'],
    ['', '']
  ])('%s', async (text, shown) => {
    expect(serverText(await german(), text)).toBe(shown);
  });

  it('of a name that reads like a message stays a name', async () => {
    const trans = await german();
    expect(serverText(trans, 'Edit cell Run')).toBe('Zelle Run bearbeiten');
  });

  it('that is long is output, and stays', async () => {
    const text = `Edit cell ${'x'.repeat(1000)}`;
    expect(serverText(await german(), text)).toBe(text);
  });

  it('stays English without a language pack', () => {
    const trans = nullTranslator.load('jupyter_ai_shoulders');
    expect(serverText(trans, 'Edit cell 4')).toBe('Edit cell 4');
  });
});
