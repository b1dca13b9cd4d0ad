import { describe, expect, it } from 'vitest'
import { parseHeadlessArguments } from '../../extension/headless-arguments.ts'

const parse = (...argv: string[]) => parseHeadlessArguments(argv, '/here')
const common = { cwd: '/here', preset: undefined, permissions: undefined, sandbox: undefined, storage: undefined }

describe('command lines', () => {
  it('run', () =>
    expect(
      parse('run', '--cwd', '/w', '--base-url', 'http://127.0.0.1:1/v1', '--model', 'm', '--permissions', 'deny', '--prompt', 'hi', '--max-steps', '3'),
    ).toEqual({
      command: 'run', ...common, cwd: '/w', permissions: 'deny', baseUrl: 'http://127.0.0.1:1/v1', api: undefined, provider: undefined, model: 'm',
      apiKeyEnv: undefined, resume: undefined, prompt: { text: 'hi' }, maxSteps: 3,
    }))
  it('run with a resumed session needs no prompt', () =>
    expect(parse('run', '--provider', 'p', '--resume', 'id')).toMatchObject({ resume: 'id', prompt: null, provider: 'p' }))
  it('run in another protocol, at its maker or elsewhere', () => {
    expect(parse('run', '--api', 'anthropic', '--model', 'm', '--prompt', 'hi')).toMatchObject({ api: 'anthropic', baseUrl: undefined })
    expect(parse('run', '--api', 'google', '--base-url', 'http://x', '--model', 'm', '--prompt', 'hi')).toMatchObject({ api: 'google', baseUrl: 'http://x' })
  })
  it('tool in a sandbox', () => expect(parse('tool', 'bash', '{}', '--sandbox', 'require')).toMatchObject({ sandbox: 'require' }))
  it('tool keeps bad JSON for the pipeline to refuse', () =>
    expect(parse('tool', 'read', '{bad')).toEqual({ command: 'tool', ...common, calls: [{ name: 'read', arguments: '{bad' }] }))
  it('tool without arguments means none', () => expect(parse('tool', 'job_list')).toMatchObject({ calls: [{ name: 'job_list', arguments: '{}' }] }))
  it('tools takes arguments as values or as text', () =>
    expect(parse('tools', '[{"name":"a","arguments":{"x":1}},{"name":"b","arguments":"{}"}]')).toMatchObject({
      calls: [{ name: 'a', arguments: '{"x":1}' }, { name: 'b', arguments: '{}' }],
    }))
  it('export and import', () =>
    expect([parse('export', 'id', '--out', 'x.zip'), parse('export', 'id', '--out', 'x.md', '--form', 'markdown', '--secrets', 'mask'), parse('import', 'x.zip', '--cwd', '/w')]).toEqual([
      { command: 'export', sessionId: 'id', out: 'x.zip', storage: undefined, form: 'zip', isRedacted: false },
      { command: 'export', sessionId: 'id', out: 'x.md', storage: undefined, form: 'markdown', isRedacted: true },
      { command: 'import', file: 'x.zip', cwd: '/w', storage: undefined },
    ]))
  it('catalogue, replay, help', () =>
    expect([parse('catalogue'), parse('replay', 'log'), parse('--help'), parse()]).toEqual([{ command: 'catalogue' }, { command: 'replay', log: 'log' }, { command: 'help', isAsked: true }, { command: 'help', isAsked: false }]))
})

describe('bad command lines say what to do', () => {
  const refuse = (argv: string[], message: string) => expect(() => parse(...argv)).toThrow(message)
  it('unknown sandbox', () => refuse(['tool', 'bash', '{}', '--sandbox', 'on'], '--sandbox is auto, off, require, not "on"'))
  it('unknown command', () => refuse(['fly'], 'Use run, tool, tools, catalogue, replay, export or import'))
  it('unknown flag', () => refuse(['run', '--fly'], '--fly'))
  it('no prompt', () => refuse(['run', '--base-url', 'http://x', '--model', 'm'], 'needs --prompt'))
  it('two prompts', () => refuse(['run', '--prompt', 'a', '--prompt-file', 'b'], 'not both'))
  it('no way to a model', () => refuse(['run', '--prompt', 'a'], 'needs --base-url'))
  it('no way to a model in a protocol without a maker', () => refuse(['run', '--prompt', 'a', '--api', 'openai-compatible', '--model', 'm'], 'needs --base-url'))
  it('no model at a maker', () => refuse(['run', '--prompt', 'a', '--api', 'google'], 'needs --model'))
  it('unknown protocol', () => refuse(['run', '--prompt', 'a', '--api', 'telnet', '--model', 'm'], 'openai-compatible, anthropic, openai-responses or google'))
  it('a protocol for a provider that has one', () => refuse(['run', '--prompt', 'a', '--api', 'google', '--provider', 'p'], 'not both'))
  it('no model', () => refuse(['run', '--prompt', 'a', '--base-url', 'http://x'], 'needs --model'))
  it('bad address', () => refuse(['run', '--prompt', 'a', '--base-url', 'nowhere', '--model', 'm'], 'is not an address'))
  it('bad permissions', () => refuse(['tool', 'read', '{}', '--permissions', 'maybe'], 'allow or deny'))
  it('bad step cap', () => refuse(['run', '--prompt', 'a', '--base-url', 'http://x', '--model', 'm', '--max-steps', '-1'], '--max-steps'))
  it('no session to export', () => refuse(['export', '--out', 'x'], 'needs the id'))
  it('no file to export to', () => refuse(['export', 'id'], 'needs --out'))
  it('bad form of an export', () => refuse(['export', 'id', '--out', 'x', '--form', 'pdf'], 'zip or markdown'))
  it('nothing to import', () => refuse(['import'], 'needs the path'))
  it('no tool', () => refuse(['tool'], 'needs the name'))
  it('calls that are no JSON', () => refuse(['tools', '[{'], 'not JSON'))
  it('calls that are no list', () => refuse(['tools', '{}'], 'JSON list'))
  it('a call without a name', () => refuse(['tools', '[{"arguments":{}}]'], 'Call 1'))
  it('no log', () => refuse(['replay'], 'path of a log'))
  it('too many arguments', () => refuse(['catalogue', 'x'], 'x'))
})
