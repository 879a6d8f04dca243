// Prints the messages of the page as JSON: what its sources hand to the translator. Called by messages.py.
// A message must be a literal; one that is put together cannot be translated, and ends this with an error.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const labextension = path.resolve(import.meta.dirname, '../labextension');
const ts = createRequire(path.join(labextension, 'package.json'))('typescript');

/** Which arguments of a method are the context, the message and its plural. */
const METHODS = {
  __: { id: 0 },
  _n: { id: 0, plural: 1 },
  _p: { context: 0, id: 1 },
  _np: { context: 0, id: 1, plural: 2 }
};

function* sources(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      yield* entry.name === '__tests__' ? [] : sources(file);
    } else if (/\.tsx?$/.test(entry.name)) {
      yield file;
    }
  }
}

function* calls(node) {
  if (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    Object.hasOwn(METHODS, node.expression.name.text)
  ) {
    yield node;
  }
  const children = [];
  ts.forEachChild(node, child => void children.push(child));
  for (const child of children) {
    yield* calls(child);
  }
}

function messageOf(call, file) {
  const places = METHODS[call.expression.name.text];
  const literals = Object.entries(places).map(([name, index]) => {
    const given = call.arguments[index];
    if (given === undefined || !ts.isStringLiteralLike(given)) {
      throw new Error(`${file}: not a literal in ${call.getText()}`);
    }
    return [name, given.text];
  });
  return { ...Object.fromEntries(literals), file };
}

const found = [];
for (const file of sources(path.join(labextension, 'src'))) {
  const source = ts.createSourceFile(
    file,
    fs.readFileSync(file, 'utf8'),
    ts.ScriptTarget.ES2022,
    true
  );
  const name = path.relative(path.dirname(labextension), file);
  for (const call of calls(source)) {
    // The one message that is no literal: a text of the server, see text/serverMessages.ts.
    if (!name.endsWith('text/serverMessages.ts')) {
      found.push(messageOf(call, name.split(path.sep).join('/')));
    }
  }
}
console.log(JSON.stringify(found));
