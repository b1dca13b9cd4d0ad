import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../extension/base/json.ts'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { redactSecrets, secretRedaction } from '../../../../extension/core/policy/redact-secrets.ts'
import { withoutSecretDiffs } from '../../../../extension/core/policy/secret-diffs.ts'
import type { Execution, PostExecuteDecision, ToolResult } from '../../../../extension/core/tools/definition.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

// Made up, and put together here so that no scanner of this repository takes them for real ones.
const letters = (count: number) => 'aB3'.repeat(count).slice(0, count)
const secretWord = ['PRI', 'VATE'].join('')
const github = `ghp_${letters(36)}`

describe('known shapes of secrets', () => {
  const rows: readonly [text: string, redacted: string][] = [
    [`token ${github} end`, 'token [GitHub token left out] end'],
    [['AKIA', 'ABCDEFGH12345678'].join(''), '[AWS access key left out]'],
    [`-----BEGIN RSA ${secretWord} KEY-----\nabc\n-----END RSA ${secretWord} KEY-----\nrest`, '[private key left out]\nrest'],
    [`-----BEGIN ${secretWord} KEY-----\ncut off`, '[private key left out]'],
    [`glpat-${letters(20)}`, '[GitLab token left out]'],
    [`xoxb-${letters(20)}`, '[Slack token left out]'],
    [`npm_${letters(36)}`, '[npm token left out]'],
    [`AIza${letters(35)}`, '[Google API key left out]'],
    [`sk_live_${letters(24)}`, '[Stripe key left out]'],
    [`"sk-proj-${letters(40)}"`, '"[API key left out]"'],
    [`sk-${letters(32)} and ${github}`, '[API key left out] and [GitHub token left out]'],
  ]
  it.each(rows)('are taken out of %j', (text, redacted) => expect(redactSecrets(text)).toBe(redacted))

  it.each(['ghp_short', 'commit 0123456789abcdef0123456789abcdef01234567', 'sk-learn', 'task-list-of-many-words', '-----BEGIN PUBLIC KEY-----'])('are not seen in %s', (text) => expect(redactSecrets(text)).toBe(text))
})

describe('the output of programs', () => {
  const setUp = async () => {
    const kernel = createKernel({ logger: createRecordingLogger() })
    await kernel.root.plugin(secretRedaction({ sensitivePaths: () => ['**/.env', '**/*.pem', '!**/a.pem'], machine: { platform: 'linux' } })).ready
    return kernel
  }
  const executionOf = (name: string): Execution => ({ callId: 'c', rootCallId: 'c', name, arguments: {}, token: { id: 't' }, signal: new AbortController().signal })
  const run = async (name: string, result: ToolResult) => (await setUp()).dispatch.waterfall('tools/execute', null, [{ ...executionOf(name) }], () => Promise.resolve(result))
  const decide = async (decision: PostExecuteDecision) =>
    (await setUp()).dispatch.waterfall('tools/post-execute', null, [executionOf('bash'), success(null)], () => Promise.resolve(decision))
  const success = (value: Json): ToolResult => ({ isError: false, value, content: [] })

  it('loses them wherever they stand, and nothing else', async () => {
    const value = { exitCode: 0, stdout: { text: `x ${github}`, truncated: false }, lines: ['a', github], none: null }
    expect(await run('bash', success(value))).toEqual(
      success({ exitCode: 0, stdout: { text: 'x [GitHub token left out]', truncated: false }, lines: ['a', '[GitHub token left out]'], none: null }),
    )
  })
  it('stays the very same without any', async () => {
    const results: readonly ToolResult[] = [success({ text: 'x' }), { isError: true, error: { message: 'x' }, content: [{ type: 'text', text: 'Error: x' }], meta: { output: 'x' } }]
    for (const result of results) expect(await run('bash', result)).toBe(result)
  })
  it('of a failure loses them too, in its card as well', async () => {
    const failure = (word: string): ToolResult => ({ isError: true, error: { message: word, info: { name: 'E', code: 'ABORTED' } }, content: [{ type: 'text', text: `Error: ${word}` }], meta: { output: word } })
    expect(await run('bash', failure(github))).toEqual(failure('[GitHub token left out]'))
  })
  it('that a listener replaced is looked at as well', async () => {
    expect(await decide({ kind: 'accept', value: github })).toEqual({ kind: 'accept', value: '[GitHub token left out]' })
    expect(await decide({ kind: 'accept', content: [{ type: 'text', text: github }] })).toEqual({ kind: 'accept', content: [{ type: 'text', text: '[GitHub token left out]' }] })
    expect(await decide({ kind: 'block', feedback: 'no' })).toEqual({ kind: 'block', feedback: 'no' })
  })
  it('is only that of programs: what is read is written back', async () => expect(await run('read', success({ text: github }))).toEqual(success({ text: github })))
})

describe('what git shows of secret-looking files', () => {
  const isSecret = (path: string) => /(^|\/)\.env$/.test(path)
  const part = (path: string, line: string) => `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-old\n+${line}`
  const cut = (path: string) => `diff --git a/${path} b/${path}\n[changes of a file that looks like a secret left out]`
  const rows: readonly [text: string, isSearch: boolean, left: string][] = [
    [part('a.ts', 'x'), false, part('a.ts', 'x')],
    [`${part('a.ts', 'x')}\n${part('web/.env', 'KEY=1')}\n${part('b.ts', 'y')}`, false, `${part('a.ts', 'x')}\n${cut('web/.env')}\n${part('b.ts', 'y')}`],
    [`commit 1234567\n\n${part('.env', 'KEY=1')}\ncommit 2345678\nmessage`, false, `commit 1234567\n\n${cut('.env')}\ncommit 2345678\nmessage`],
    [part('.env', 'KEY=1').replace('b/.env', 'b/shown.txt'), false, cut('.env').replace('b/.env', 'b/shown.txt')],
    [`\u001b[1m${part('.env', 'KEY=1')}`, false, `\u001b[1m${cut('.env')}`],
    ['diff --cc .env\nindex 1\n++KEY=1', false, 'diff --cc .env\n[changes of a file that looks like a secret left out]'],
    ['web/.env:3:KEY=1\na.ts:1:key', true, 'a.ts:1:key'],
    ['HEAD~1:web/.env:KEY=1\nHEAD~1:a.ts:key', true, 'HEAD~1:a.ts:key'],
    ['web/.env-2-KEY=1\nweb/.env:3:KEY=2\nHEAD:.env-4-KEY=3', true, ''],
    ['web/.env:3:KEY=1', false, 'web/.env:3:KEY=1'],
    ['', false, ''],
  ]
  it.each(rows)('is left out: %j', (text, isSearch, left) => expect(withoutSecretDiffs(text, isSecret, { isSearch })).toBe(left))
})
