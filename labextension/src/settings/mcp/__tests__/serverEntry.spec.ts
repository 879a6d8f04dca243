/** What people paste to add an MCP server. */

import { describe, expect, test } from 'vitest';

import { joinWords, splitWords } from '../commandWords';
import {
  entriesIn,
  pairsIn,
  pairsText,
  targetText,
  type IServerEntry
} from '../serverEntry';

const entry = (change: Partial<IServerEntry>): IServerEntry => ({
  ...{ command: null, args: [], env: {}, cwd: null },
  ...{ url: null, headers: {}, sse: false, sampling: false },
  ...change
});
const json = (value: unknown): string => JSON.stringify(value);
const everything = entry({
  command: 'npx',
  args: ['-y', '@modelcontextprotocol/server-everything']
});

describe('a pasted text', () => {
  test.each([
    ['nothing', '  ', []],
    ['half an object', '{"command":', []],
    ['an object without a server', '{"theme": "dark"}', []],
    ['a broken address', 'https://a b', []],
    [
      'a command line',
      'npx -y @modelcontextprotocol/server-everything',
      [{ name: 'everything', entry: everything }]
    ],
    [
      'a command line with variables and quotes',
      'TOKEN=${KEY} python "my server.py"',
      [
        {
          name: 'my-server',
          entry: entry({
            command: 'python',
            args: ['my server.py'],
            env: { TOKEN: '${KEY}' }
          })
        }
      ]
    ],
    [
      'an address',
      'https://mcp.linear.app/mcp',
      [{ name: 'linear', entry: entry({ url: 'https://mcp.linear.app/mcp' }) }]
    ],
    [
      'the list of a client',
      json({
        mcpServers: {
          one: { command: 'npx', args: everything.args },
          two: { type: 'sse', url: 'http://x/sse', headers: { A: 'b' } }
        }
      }),
      [
        { name: 'one', entry: everything },
        {
          name: 'two',
          entry: entry({ url: 'http://x/sse', headers: { A: 'b' }, sse: true })
        }
      ]
    ],
    [
      'a list of VS Code',
      json({ servers: { git: { type: 'http', url: 'https://x/mcp' } } }),
      [{ name: 'git', entry: entry({ url: 'https://x/mcp' }) }]
    ],
    [
      'a nested command of Zed',
      json({ context_servers: { a: { command: { path: 'a', args: ['b'] } } } }),
      [{ name: 'a', entry: entry({ command: 'a', args: ['b'] }) }]
    ],
    [
      'one entry without braces',
      '"a": {"command": "uvx", "args": ["mcp-server-git"], "env": {"N": 1}},',
      [
        {
          name: 'a',
          entry: entry({
            command: 'uvx',
            args: ['mcp-server-git'],
            env: { N: '1' }
          })
        }
      ]
    ],
    [
      'an entry without a name',
      json({ command: 'uvx', args: ['mcp-server-git'] }),
      [
        {
          name: 'git',
          entry: entry({ command: 'uvx', args: ['mcp-server-git'] })
        }
      ]
    ]
  ])('%s', (_, text, found) => {
    expect(entriesIn(text)).toEqual(found);
  });
});

test.each([
  [['a', 'b c', ''], "a 'b c' ''"],
  [['it\'s "x"'], '"it\'s \\"x\\""'],
  [['C:\\Users\\me'], "'C:\\Users\\me'"],
  [['a\nb'], "'a\nb'"]
])('the words %j are shown and read again', (words, shown) => {
  expect(joinWords(words)).toBe(shown);
  expect(splitWords(shown)).toEqual(words);
});

test('a command is shown as its line, variables and headers as lines', () => {
  expect(targetText(everything)).toBe(
    'npx -y @modelcontextprotocol/server-everything'
  );
  expect(targetText(entry({ url: 'http://x/' }))).toBe('http://x/');
  const pairs = { A: 'x=1', B: '' };
  expect(pairsIn(pairsText(pairs, '='), '=')).toEqual(pairs);
  expect(pairsText({ 'X-Key': '${K}' }, ':')).toBe('X-Key: ${K}');
  expect(pairsIn('no sign', '=')).toBeNull();
});
