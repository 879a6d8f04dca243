/** References as the server sends them. */

import type { Reference, ReferenceList } from '../../wire/generated';

export function reference(fields: Partial<Reference> = {}): Reference {
  return {
    ...{
      key: 'lovelace1843',
      type: 'article',
      file: 'references.bib',
      line: 2
    },
    ...{ title: 'Sketch of the Engine', authors: ['Ada Lovelace'] },
    ...{ year: '1843', venue: 'Memoirs', doi: '', url: '', pdf: '' },
    ...{ unverified: '', is_duplicate: false },
    ...fields
  };
}

export function list(...references: Reference[]): ReferenceList {
  return {
    references,
    total: references.length,
    files: [],
    problems: [],
    zotero: { running: false, items: 0, problem: '' },
    add_to: 'references.bib',
    syntax: 'myst'
  };
}

export const WORKS = [
  reference(),
  reference({
    ...{ key: 'knuth1984', title: 'The TeXbook', year: '1984', line: 9 },
    ...{ authors: ['Donald E. Knuth'], doi: '10.1000/tex', pdf: 'tex.pdf' }
  }),
  reference({
    ...{ key: 'muller2001', title: 'Étude', authors: ['Jörg von Müller'] },
    ...{ year: '2001', file: '', line: null, unverified: 'No register has it.' }
  })
];
