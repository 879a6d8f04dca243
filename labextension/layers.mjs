// Holds the layers of src/: imports point down only, and no files import each other in a circle, types included.
// Run by `npm run check`. Each folder is a separate part, so a new folder needs a place below.

import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** From what starts the page down to what knows nothing of it. Parts on one line do not import each other. */
const LAYERS = `
index.ts
plugins
plugins/automation plugins/chat-panel widget
plugins/chat-host chat settings schedules search references agent-database inline-actions inline-completion threads
chat/empty-state chat/messages settings/sections settings/memory settings/providers settings/rules settings/usage settings/mcp settings/access review
chat/cards chat/input chat/threads chat/tool-calls chat/changes settings/components lab word
chat/agents
chat/markdown chat/sessions chat/input/suggestions chat/input/sheets threads/marks settings/store tokens.ts
trust ui/paged-list ui/viewers
ui live-documents follow
host live-documents/file-sync
model/conversations live-documents/notebooks threads/tracking
model/sessions model/view-models editor threads/anchors
client model/reducer text
ui/icons wire
`;

const SRC = path.join(import.meta.dirname, 'src');
const ENDINGS = ['', '.ts', '.tsx', '.d.ts', '/index.ts', '/index.tsx'];

/** The sources by their path in src/; tests may import anything. */
const files = fs
  .readdirSync(SRC, { recursive: true })
  .map(file => file.split(path.sep).join('/'))
  .filter(file => /\.tsx?$/.test(file) && !file.includes('__tests__/'))
  .sort();
const known = new Set(files);

const levels = new Map(
  LAYERS.trim()
    .split('\n')
    .flatMap((line, level) => line.split(' ').map(part => [part, level]))
);

/** The part a file belongs to: its folder, or itself beside the folders. */
function partOf(file) {
  return file.includes('/') ? path.posix.dirname(file) : file;
}

/** The sources a file imports, at its top or later. */
function importsOf(file) {
  const text = fs.readFileSync(path.join(SRC, file), 'utf8');
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter(name => name.startsWith('.'))
    .map(name => path.posix.join(path.posix.dirname(file), name))
    .map(target => ENDINGS.map(e => target + e).find(f => known.has(f)))
    .filter(target => target !== undefined);
}

/** Circles of files, each once, as the path around it. */
function circlesIn(graph) {
  const done = new Set();
  const circles = [];
  const visit = (file, trail) => {
    const at = trail.indexOf(file);
    if (at >= 0) {
      circles.push([...trail.slice(at), file]);
    } else if (!done.has(file)) {
      graph.get(file).forEach(target => visit(target, [...trail, file]));
      done.add(file);
    }
  };
  files.forEach(file => visit(file, []));
  return circles;
}

const graph = new Map(files.map(file => [file, importsOf(file)]));
const problems = [];

const parts = new Set(files.map(partOf));
for (const part of parts) {
  if (!levels.has(part)) {
    problems.push(`src/${part} has no layer: give it a place in layers.mjs`);
  }
}
for (const part of levels.keys()) {
  if (!parts.has(part)) {
    problems.push(`src/${part} has a layer but no files`);
  }
}
for (const [file, targets] of graph) {
  for (const target of targets) {
    const [from, to] = [partOf(file), partOf(target)];
    if (from !== to && levels.get(from) >= levels.get(to)) {
      problems.push(`src/${file} -> src/${target} points up, or sideways`);
    }
  }
}
// An upward import makes circles too, so circles are reported only when no import points up.
for (const circle of problems.length > 0 ? [] : circlesIn(graph)) {
  problems.push(`A circle: ${circle.map(file => `src/${file}`).join(' -> ')}`);
}

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}
