import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startHttpServer, startSseServer } from '../../support/mcp-http.ts'
import { codeOf, patient, programServer, scriptedModel, textOf, withRig } from '../../support/mcp-rig.ts'
import { createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { programsWith } from '../../support/programs-with.ts'

const fast = { reconnect: { initialMs: 20, maxMs: 100, attempts: 2 } }

describe('transports', patient, () => {
  it('streamable HTTP carries calls and headers, and is said goodbye to', async () => {
    const server = await startHttpServer()
    await withRig({ web: { url: server.url, headers: { 'x-key': 'abc' } } }, async (rig) => {
      await rig.until('running')
      expect(textOf(await rig.call('echo', { text: 'hi' }))).toBe('echo: hi')
      expect([new Set(server.header('x-key')), server.openSessions()]).toEqual([new Set(['abc']), 1])
    })
    expect(server.openSessions()).toBe(0)
    await server.close()
  })
  it('a server of the older transport is reached by it, whether that was said or not', async () => {
    const server = await startSseServer()
    await withRig({ said: { type: 'sse', url: server.url }, unsaid: { url: server.url } }, async (rig) => {
      for (const name of ['said', 'unsaid']) {
        await rig.until('running', name)
        expect(textOf(await rig.call('echo', { text: name }, { server: name }))).toBe(`echo: ${name}`)
      }
    })
    await server.close()
  })
  it('a server that forgot us is reached anew', async () => {
    const server = await startHttpServer()
    await withRig({ web: { url: server.url, ...fast } }, async (rig) => {
      await rig.until('running')
      server.forget()
      expect((await rig.call('look')).isError).toBe(true)
      await rig.until('running')
      expect(textOf(await rig.call('look'))).toBe('seen')
    })
    await server.close()
  })
  it('a server that wants a sign-in where there is no browser says so, and is not asked again', async () => {
    const server = await startHttpServer({
      intercept: (_request, response) => {
        response.statusCode = 401
        response.end()
        return true
      },
    })
    await withRig({ web: { url: server.url, ...fast } }, async (rig) => {
      const { reason } = await rig.until('needs-sign-in')
      expect(reason).toBe('It wants you to sign in.')
      await expect(rig.application.ctx.mcp.signIn('web')).rejects.toMatchObject({ code: 'MCP_SIGN_IN', message: 'There is no browser to sign in with here. For web, give it a token in the place of a sign-in: "headers": {"Authorization": "Bearer ${env:NAME}"} where it is configured, and set that variable.' })
      expect((await rig.application.ctx.commands.run(rig.agent, '/mcp')).text).toMatch(/You can give it a token in the place of a sign-in: "headers"/)
    })
    await server.close()
  })
})

describe('the life of a server', patient, () => {
  it('a crash fails the call that runs, and the server comes back', () =>
    withRig({ demo: { ...programServer('ok'), ...fast } }, async (rig) => {
      await rig.until('running')
      const crash = await rig.call('crash')
      expect([codeOf(crash), textOf(crash)]).toEqual(['MCP_CLOSED', expect.stringMatching(/^Error: It ended with exit code 3\./)])
      await rig.until('running')
      expect(textOf(await rig.call('look'))).toBe('seen')
    }))
  it('while it is away, calls fail with what to do', () =>
    withRig({ demo: { ...programServer('ok'), reconnect: { initialMs: 5_000 } } }, async (rig) => {
      await rig.until('running')
      await rig.call('crash')
      await rig.until('retrying')
      const away = await rig.call('look')
      expect([codeOf(away), textOf(away)]).toEqual(['MCP_UNAVAILABLE', expect.stringMatching(/is away and is being reached again\. It ended with exit code 3/)])
    }))
  it('one that does not stay is given up with its last words, and its tools go', () =>
    withRig({ demo: { ...programServer('fail'), ...fast } }, async (rig) => {
      const { reason, tools } = await rig.until('failed')
      expect([reason, tools]).toEqual([expect.stringMatching(/exit code 7\..*no licence found.*given up after 2 attempts/), []])
    }))
  it('without reconnection its tools stay, and calls say that the person restarts it', () =>
    withRig({ demo: { ...programServer('ok'), reconnect: { enabled: false } } }, async (rig) => {
      await rig.until('running')
      await rig.call('crash')
      const { tools, reason } = await rig.until('failed')
      expect([tools.length > 0, reason]).toEqual([true, expect.stringMatching(/not reached again by itself/)])
      expect(textOf(await rig.call('look'))).toMatch(/The person can start it with “\/mcp restart demo”/)
      await rig.application.ctx.mcp.restart('demo')
      expect(textOf(await rig.call('look'))).toBe('seen')
    }))
  it('a program that is not there is told at once', () =>
    withRig({ demo: { command: '/nowhere/server' } }, async (rig) => expect((await rig.until('failed')).reason).toBe('The program "/nowhere/server" was not found (ENOENT). Check its name and that it is on PATH.')))
  it('stopping ends it and takes its tools; starting brings them back', () =>
    withRig({ demo: programServer('ok') }, async (rig) => {
      await rig.until('running')
      await rig.application.ctx.mcp.stop('demo')
      expect([rig.server().state, rig.server().tools]).toEqual(['stopped', []])
      await rig.application.ctx.mcp.restart('demo')
      expect([rig.server().state, rig.server().tools.length > 0]).toEqual(['running', true])
    }))
  it.runIf(process.platform === 'linux')('nothing of it is left: neither a program that does not go by itself, nor one that it started', async () => {
    let file = ''
    await withRig({}, async (rig) => {
      file = join(rig.application.folder, 'pid')
      await rig.application.settings.set('mcp.servers', { parent: programServer('child', file), stubborn: programServer('stubborn', file) }, 'user')
      await rig.until('running', 'parent')
      await rig.until('running', 'stubborn')
      expect(await programsWith(file)).toBe(3)
    })
    expect(await programsWith(file)).toBe(0)
  })
  it('one that does not answer keeps nobody: a turn goes on without it, and disposing ends it', async () => {
    const adapter = createScriptedAdapter([sayText('Done.')])
    await withRig(
      { demo: programServer('mute') },
      async (rig) => {
        rig.application.ctx.models.register(adapter)
        rig.agent.followup({ id: 'p1', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
        await rig.agent.whenIdle()
        expect([adapter.requests.length, rig.server().state, rig.server().tools]).toEqual([1, 'starting', []])
      },
      { settings: { ...scriptedModel, 'mcp.startWaitMs': 50 } },
    )
  })
})

describe('configuration', patient, () => {
  it('a server of the workspace runs only after the person let it, and waits again when its entry changes', async () => {
    const watched = new Map<() => void, readonly string[]>()
    const watch = (names: readonly string[], changed: (path: string) => void) => {
      const listener = () => changed('mcp.json')
      watched.set(listener, names)
      return () => void watched.delete(listener)
    }
    await withRig(
      {},
      async (rig) => {
        const { folder, ctx } = rig.application
        const keep = async (entry: object) => {
          await mkdir(join(folder, '.bosun'), { recursive: true })
          await writeFile(join(folder, '.bosun/mcp.json'), `{ // ours\n "servers": ${JSON.stringify({ demo: entry })}, }`)
          for (const [changed, names] of watched) if (names.includes('mcp.json')) changed()
        }
        await keep(programServer('ok'))
        const { needsConsent, source } = await rig.until('waits', 'demo')
        expect([needsConsent, source]).toEqual([true, `${folder}/.bosun/mcp.json`])
        await ctx.mcp.allow(['demo'])
        expect((await rig.until('running', 'demo')).tools.length).toBeGreaterThan(0)
        await keep({ ...programServer('ok'), env: { OTHER: 'x' } })
        expect((await rig.until('waits', 'demo')).tools).toEqual([])
        await expect(ctx.mcp.restart('demo')).rejects.toMatchObject({ code: 'MCP_UNAVAILABLE', message: expect.stringContaining('“/mcp allow demo”') as string })
        // The very entry that the person let run needs no second consent.
        await keep(programServer('ok'))
        await rig.until('running', 'demo')
      },
      { alter: (world) => ({ ...world, workspace: { ...world.workspace, onDidChangeFiles: watch } }) },
    )
  })
  it('bad entries are listed with a reason and spoil no good one', () =>
    withRig({ demo: programServer('ok'), ' ': { command: 'x' }, both: { command: 'x', url: 'http://127.0.0.1' } }, async (rig) => {
      await rig.until('running')
      expect(rig.application.ctx.mcp.report().skipped.map(({ name, reason }) => [name, reason])).toEqual([
        [' ', 'A name has 1 to 200 characters. Rename it.'],
        ['both', 'it has a "command" and a "url"; keep one of them'],
      ])
    }))
  it('an input is asked for, kept as a secret, and put in', () =>
    withRig({ demo: { ...programServer('ok'), env: { GIVEN: '${input:word}', HERE: '${workspaceFolder}' } } }, async (rig) => {
      expect((await rig.until('needs-input')).missingInputs.map(({ id }) => id)).toEqual(['word'])
      await rig.application.ctx.mcp.giveInput('demo', 'word', 'a ${workspaceFolder} secret')
      await rig.until('running')
      expect(JSON.parse(textOf(await rig.call('env')))).toMatchObject({ GIVEN: 'a ${workspaceFolder} secret', HERE: rig.application.folder })
    }))
  it('/mcp input asks in a box, and what was typed is in no log', async () => {
    const asked: unknown[] = []
    const answers = ['first secret', null, 'second secret']
    const askInput = (question: unknown) => {
      asked.push(question)
      return Promise.resolve(answers.shift() ?? null)
    }
    await withRig(
      { demo: { ...programServer('ok'), env: { GIVEN: '${input:word}' } } },
      async (rig) => {
        const mcp = (line: string) => rig.application.ctx.commands.run(rig.agent, `/mcp ${line}`)
        expect((await rig.until('needs-input')).missingInputs.length).toBe(1)
        expect((await mcp('')).text).toBe('demo: needs-input. It needs word. You can give it what it needs with “/mcp input demo”.')
        expect((await mcp('input demo')).text).toMatch(/^demo: running\n/)
        expect(JSON.parse(textOf(await rig.call('env')))).toMatchObject({ GIVEN: 'first secret' })
        expect(asked).toEqual([{ server: 'demo', id: 'word', description: '', isSecret: true }])
        expect((await mcp('input demo word')).text).toBe('demo: nothing was given for word.')
        // One that was mistyped can be given anew.
        await mcp('input demo')
        expect(JSON.parse(textOf(await rig.call('env')))).toMatchObject({ GIVEN: 'second secret' })
        expect(await mcp('input demo word typed-secret')).toMatchObject({ kind: 'error', text: expect.stringContaining('Do not type the value') as string })
        expect(await mcp('input demo typed-secret')).toMatchObject({ kind: 'error', text: 'demo has no such input. It has: word.' })
        expect(JSON.stringify([rig.agent.session.events(), rig.application.ctx.mcp.log('demo')])).not.toMatch(/first secret|second secret|typed-secret/)
      },
      { alter: (world) => ({ ...world, mcpInput: askInput }) },
    )
  })
  it('/mcp input where nobody can be asked says what serves instead', () =>
    withRig({ demo: { ...programServer('ok'), env: { GIVEN: '${input:word}' } } }, async (rig) => {
      await rig.until('needs-input')
      const { kind, text } = await rig.application.ctx.commands.run(rig.agent, '/mcp input demo')
      expect([kind, text]).toEqual(['error', 'There is nobody to ask for a value here. Put ${env:NAME} in the place of ${input:word} in the setting bosun.mcp.servers and set that variable, or give the server another value there.'])
    }))
  it('/mcp says how each server stands, and trusts one until that is taken back', () =>
    withRig({ demo: programServer('ok') }, async (rig) => {
      await rig.until('running')
      const mcp = async (line: string) => (await rig.application.ctx.commands.run(rig.agent, `/mcp ${line}`)).text
      expect(await mcp('')).toMatch(/^demo: running\n {2}mcp__demo__/)
      await mcp('trust demo')
      expect(rig.server().isTrusted).toBe(true)
      await mcp('distrust demo')
      expect(rig.server().isTrusted).toBe(false)
      expect(await mcp('stop demo')).toBe('demo: stopped. You can start it with “/mcp restart demo”.')
      expect(await mcp('trust nobody')).toBe('There is no such MCP server. There are: demo.')
    }))
  it('a prompt is a command, and a resource can be read', () =>
    withRig({ demo: programServer('ok') }, async (rig) => {
      await rig.until('running')
      const command = rig.application.ctx.commands.get('mcp_demo_review', null)
      expect([command?.description, command?.input]).toEqual(['Review a file.', { hint: 'path [tone]' }])
      expect(await rig.application.ctx.mcp.readResource('demo', 'demo://notes', new AbortController().signal)).toMatchObject([{ type: 'resource', text: 'remember the milk' }])
    }))
})
