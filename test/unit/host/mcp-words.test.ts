import { expect, it } from 'vitest'
import { listedTarget } from '../../../extension/host/mcp-words.ts'

const program = `/home/me/a/long/way/${'down/'.repeat(60)}server.js`
it.each([
  ['that fits stays', 'npx -y my-server', /^npx -y my-server$/],
  ['that is long keeps what it starts and its last word', `${program} read`, /^\/home\/me\/a\/long\/way\/(down\/)+.*….*server\.js read$/],
  ['differs from another that ends otherwise', `${program}\n  write`, /server\.js write$/],
])('a command line %s', (_name, line, expected) => {
  const listed = listedTarget(line)
  expect(listed).toMatch(expected)
  expect(listed.length).toBeLessThan(86)
})
