import { expect, it } from 'vitest'
import { HiddenValues } from '../../../../extension/features/mcp/hidden-values.ts'

it('takes out what was given in confidence, and what looks like a key of somebody', () => {
  const hidden = new HiddenValues()
  hidden.hide('typed-by-hand')
  hidden.hide('short')
  hidden.hideOf({ kind: 'stdio', command: 'x', args: [], cwd: '/', env: { API_TOKEN: 'typed-by-hand-and-longer', PORT: 'eighty-eighty' } })
  hidden.hideOf({ kind: 'http', url: 'http://localhost', headers: { authorization: 'Bearer of-the-header' } })
  hidden.hideNamed('DB_PASSWORD', 'of-the-machine')
  hidden.hideNamed('HOME', '/home/person')
  expect(hidden.redact(`short typed-by-hand-and-longer, typed-by-hand, eighty-eighty, got of-the-header, of-the-machine in /home/person, ghp_${'a'.repeat(36)}`)).toBe(
    'short [left out], [left out], eighty-eighty, got [left out], [left out] in /home/person, [GitHub token left out]',
  )
})

it.each<[what: string, hide: (hidden: HiddenValues) => void]>([
  ['the secret of a client that an entry names', (hidden) => hidden.hideOf({ kind: 'http', url: 'http://localhost', headers: {}, client: { id: 'bosun', secret: 'abcdefgh' } })],
  ...['access_token', 'refresh_token', 'id_token', 'client_secret'].map((name): [string, (hidden: HiddenValues) => void] => [`the ${name} of a sign-in`, (hidden) => hidden.hideSignIn(JSON.stringify({ token_type: 'Bearer', [name]: 'abcdefgh' }))]),
])('takes out %s', (_, hide) => {
  const hidden = new HiddenValues()
  hide(hidden)
  expect(hidden.redact('Bearer abcdefgh of bosun')).toBe('Bearer [left out] of bosun')
})
