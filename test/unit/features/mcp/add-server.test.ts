import { describe, expect, it } from 'vitest'
import { insertionOf } from '../../../../extension/features/mcp/add-server.ts'
import { parseServerFile } from '../../../../extension/features/mcp/server-config.ts'

const web = { url: 'https://example.com/mcp' }

/** The file with the server `new` in it; null when it is left alone. */
function added(text: string): string | null {
  const insertion = insertionOf(text, 'new', web)
  return insertion === null ? null : text.slice(0, insertion.start) + insertion.newText + text.slice(insertion.end)
}

describe('a server in a file', () => {
  it.each([
    ['an empty file', '\n', '{\n  "servers": {\n    "new": {\n      "url": "https://example.com/mcp"\n    }\n  }\n}\n'],
    ['a file without servers', '{}', '{\n  "servers": {\n    "new": {\n      "url": "https://example.com/mcp"\n    }\n  }\n}'],
    ['a file with other things', '{\n\t"inputs": []\n}\n', '{\n\t"servers": {\n\t\t"new": {\n\t\t\t"url": "https://example.com/mcp"\n\t\t}\n\t},\n\t"inputs": []\n}\n'],
    ['an empty list', '{\n  "servers": {}\n}\n', '{\n  "servers": {\n    "new": {\n      "url": "https://example.com/mcp"\n    }\n  }\n}\n'],
    [
      'others, with comments and commas as people write them',
      '{ // "servers": {}\n  "servers": {\n    /* ours } */\n    "old": { "command": "x", "args": ["{", "//"], },\n  },\n}\n',
      '{ // "servers": {}\n  "servers": {\n    "new": {\n      "url": "https://example.com/mcp"\n    },\n    /* ours } */\n    "old": { "command": "x", "args": ["{", "//"], },\n  },\n}\n',
    ],
    ['the name that others call it by', '{"mcpServers": {"old": {"command": "x"}}}', '{"mcpServers": {\n    "new": {\n      "url": "https://example.com/mcp"\n    },"old": {"command": "x"}}}'],
    ['lines that end as on Windows', '{\r\n  "servers": {}\r\n}\r\n', '{\r\n  "servers": {\r\n    "new": {\r\n      "url": "https://example.com/mcp"\r\n    }\r\n  }\r\n}\r\n'],
  ])('goes into %s and leaves the rest', (_name, before, after) => {
    expect(added(before)).toBe(after)
    expect(parseServerFile(after).servers.map(({ name }) => name)).toContain('new')
  })

  it.each([
    ['is no JSON', '{ "servers": { '],
    ['is a list', '[]'],
    ['has something else for its servers', '{ "servers": [] }'],
    ['has a server of that name', '{ "servers": { "new": { "command": "x" } } }'],
  ])('does not go into one that %s', (_name, before) => expect(added(before)).toBeNull())
})
