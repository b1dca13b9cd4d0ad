import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Secrets } from '../../../extension/capabilities/secrets.ts'
import type { Clock } from '../../../extension/capabilities/clock.ts'
import { createMcpConnector } from '../../../extension/platform/node/mcp/connector.ts'
import { createBrowserReturn } from '../../../extension/platform/node/mcp/browser-return.ts'
import { codeOf, mcpRig, patient, textOf, type McpRig } from '../../support/mcp-rig.ts'
import { startSignInServer, visit, type SignInServer } from '../../support/mcp-sign-in.ts'
import { memorySecrets } from '../../support/memory-secrets.ts'
import { realClock } from '../../support/real-clock.ts'

/** One that nobody listens at. */
async function freePort(): Promise<{ readonly port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return { port }
}

const words = () => ({ heard: 'heard', stranger: 'stranger' })

interface SignInRig extends McpRig {
  readonly server: McpRig['server']
  readonly at: SignInServer
  readonly secrets: Secrets
  /** Addresses at which the person was sent to a browser. */
  readonly opened: readonly string[]
  /** What the browser saw, page by page. */
  readonly seen: readonly { readonly url: string; readonly status: number; readonly text: string }[]
  /** Let five minutes pass for whoever waits for the browser. */
  giveUp(): void
}

interface Given {
  readonly at?: Parameters<typeof startSignInServer>[0]
  readonly entry?: object
  readonly secrets?: Secrets
  /** The browser; by default it goes where it is sent. */
  readonly open?: (url: string) => Promise<boolean>
  readonly server?: SignInServer
  /** What reaches the client in the place of an answer. */
  readonly alterAnswer?: (url: string, answer: Response) => Promise<Response>
}

async function withSignIn(check: (rig: SignInRig) => Promise<void>, { at: how, entry = {}, secrets = memorySecrets(), open, server, alterAnswer }: Given = {}): Promise<void> {
  const at = server ?? (await startSignInServer(how))
  const opened: string[] = []
  const seen: { readonly url: string; readonly status: number; readonly text: string }[] = []
  const waits: (() => void)[] = []
  const clock: Pick<Clock, 'schedule'> = { schedule: (_delayMs, fire) => (waits.push(fire), () => void waits.splice(waits.indexOf(fire), 1)) }
  const mcpSignIn = createBrowserReturn({
    clock,
    words,
    external: (url) => Promise.resolve(url),
    open: async (url) => {
      opened.push(url)
      if (open !== undefined) return await open(url)
      if (at.decides !== 'nothing') seen.push(...(await visit(url)))
      return true
    },
  })
  const rig = await mcpRig({ web: { url: at.url, ...(how?.transport === 'sse' && { type: 'sse' }), ...entry } }, {
    alter: (world) => ({ ...world, mcpSignIn, secrets, ...(alterAnswer && { mcp: createMcpConnector({ ...world, http: { fetch: async (input, init) => await alterAnswer(input instanceof Request ? input.url : input.toString(), await fetch(input, init)) } }) }) }),
  })
  try {
    await check({ ...rig, at, secrets, opened, seen, giveUp: () => [...waits].forEach((fire) => fire()) })
  } finally {
    await rig.dispose()
    if (server === undefined) await at.close()
  }
}

const signIn = (rig: SignInRig) => rig.application.ctx.mcp.signIn('web')
/** Everything that is kept or shown, in which no token may stand. */
const traces = (rig: SignInRig) => JSON.stringify([rig.agent.session.events(), rig.application.ctx.mcp.log('web'), rig.application.ctx.mcp.report(), rig.application.settings.inspect('mcp.servers'), rig.application.logger])

describe('signing in', patient, () => {
  it.each([
    ['a file of this machine as its page', 'oauth-authorization-server', { authorization_endpoint: 'file:///usr/bin/true' }, 'The sign-in did not succeed. It sends you to an address that is no page of the web, which begins with file:, so nothing was opened.'],
    ['a program of the editor as its page', 'oauth-authorization-server', { authorization_endpoint: 'vscode://some.extension/run' }, 'The sign-in did not succeed. It sends you to an address that is no page of the web, which begins with vscode:, so nothing was opened.'],
    ['another server as the one it is for', 'oauth-protected-resource', { resource: 'https://elsewhere.example/mcp' }, /Protected resource https:\/\/elsewhere\.example\/mcp does not match expected/],
  ])('opens no browser for a server that names %s', async (_name, document, lie, reason) => {
    await withSignIn(
      async (rig) => {
        await rig.application.ctx.mcp.reread()
        await signIn(rig)
        expect([rig.opened, rig.server().reason]).toEqual([[], typeof reason === 'string' ? reason : expect.stringMatching(reason)])
      },
      { entry: { reconnect: { enabled: false } }, alterAnswer: async (url, answer) => (url.includes(document) && answer.ok ? Response.json({ ...((await answer.json()) as object), ...lie }) : answer) },
    )
  })
  it.each([
    ['streamable HTTP', {}],
    ['streamable HTTP where only requests want it', { at: { asks: 'requests' } }],
    ['SSE', { at: { transport: 'sse' } }],
  ] as const)('over %s: no browser opens by itself, then the person agrees, and the tools are there', async (_name, given) => {
    await withSignIn(async (rig) => {
      expect(await rig.until('needs-sign-in')).toMatchObject({ reason: 'It wants you to sign in.', canSignIn: true, isSignedIn: false })
      expect([rig.opened, rig.at.registrations]).toEqual([[], []])
      expect((await rig.application.ctx.commands.run(rig.agent, '/mcp sign-in web')).text).toMatch(/^web: running\n {2}mcp__web__/)
      expect(textOf(await rig.call('echo', { text: 'hi' }))).toBe('echo: hi')
      expect(rig.server()).toMatchObject({ state: 'running', isSignedIn: true })
      const asked = new URL(rig.opened[0] ?? '')
      expect([rig.opened.length, asked.searchParams.get('code_challenge_method'), asked.searchParams.get('resource')]).toEqual([1, 'S256', rig.at.url])
      expect(rig.at.registrations).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)])
      expect(rig.seen.map(({ status, text }) => [status, /heard|stranger/.exec(text)?.[0]])).toEqual([[302, undefined], [200, 'heard']])
      // The listener lives no longer than the sign-in.
      await expect(fetch(rig.at.registrations[0] ?? '')).rejects.toThrow('fetch failed')
    }, given)
  })
  it('what was got is a secret, and stands nowhere else', () =>
    withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      await signIn(rig)
      await rig.call('look')
      const [token = 'none'] = rig.at.tokens()
      expect(rig.at.header('authorization')).toContain(`Bearer ${token}`)
      expect(traces(rig)).not.toMatch(/access-|refresh-|code-|code_verifier/)
    }))
  it('the next window needs no sign-in', async () => {
    const server = await startSignInServer()
    const secrets = memorySecrets()
    await withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      await signIn(rig)
    }, { server, secrets })
    await withSignIn(async (rig) => {
      await rig.until('running')
      expect(rig.opened).toEqual([])
    }, { server, secrets })
    await server.close()
  })
  it('a window that waits for a sign-in goes on when another one has it', async () => {
    const server = await startSignInServer()
    const secrets = memorySecrets()
    await withSignIn(async (waiting) => {
      await waiting.until('needs-sign-in')
      await withSignIn(async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
      }, { server, secrets })
      await waiting.until('running')
      expect(waiting.opened).toEqual([])
    }, { server, secrets })
    await server.close()
  })
  it('the server takes no code without the verifier that belongs to it', () => {
    let stolen: Promise<readonly [number, unknown]> | null = null
    return withSignIn(
      async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
        expect(await stolen).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })])
        expect(rig.server().state).toBe('needs-sign-in')
      },
      {
        open: async (url) => {
          const { searchParams, origin } = new URL(url)
          const code = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '').searchParams.get('code') ?? ''
          const body = new URLSearchParams({ grant_type: 'authorization_code', code, code_verifier: 'guessed'.repeat(8), client_id: searchParams.get('client_id') ?? '', redirect_uri: searchParams.get('redirect_uri') ?? '' })
          const answer = await fetch(`${origin}/token`, { method: 'POST', body })
          stolen = Promise.resolve([answer.status, await answer.json()])
          return false
        },
      },
    )
  })
})

describe('a sign-in that comes to nothing', patient, () => {
  it.each([
    ['the person declines', 'deny', /^The sign-in did not succeed\. You did not agree: access_denied\.$/, 200],
    ['another state comes back', 'wrong-state', /^The sign-in did not succeed\. Nobody came back from the browser within 5 minutes\. An answer came that did not belong to this sign-in\.$/, 400],
    ['nobody comes back', 'nothing', /^The sign-in did not succeed\. Nobody came back from the browser within 5 minutes\.$/, null],
  ] as const)('%s', (_name, decides, reason, status) =>
    withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      rig.at.decides = decides
      const running = signIn(rig)
      await expect.poll(() => (decides === 'nothing' ? rig.opened : rig.seen).length).toBeGreaterThan(0)
      expect(rig.server().state === 'starting' ? rig.server().reason : 'It waits for you to sign in, in the browser.').toBe('It waits for you to sign in, in the browser.')
      rig.giveUp()
      await running
      expect([rig.server().state, rig.server().reason]).toEqual(['needs-sign-in', expect.stringMatching(reason)])
      expect(rig.seen.at(-1)?.status ?? null).toBe(status)
      expect(rig.at.tokens()).toEqual([])
      // It can be tried again.
      rig.at.decides = 'agree'
      await signIn(rig)
      expect(rig.server().state).toBe('running')
    }))
  it('the server takes only programs that it knows', () =>
    withSignIn(
      async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
        expect([rig.server().state, rig.server().reason, rig.opened]).toEqual(['needs-sign-in', 'The sign-in did not succeed. It lets only programs ask that it knows already, which Bosun is not. Give it “oauth” with a “clientId” of its own where it is configured, or a token.', []])
      },
      { at: { registers: false } },
    ))
  it('the editor does not open the page', () =>
    withSignIn(
      async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
        expect(rig.server()).toMatchObject({ state: 'needs-sign-in', reason: 'The sign-in did not succeed. The page to sign in at was not opened.' })
      },
      { open: () => Promise.resolve(false) },
    ))
  it('the person stops the server meanwhile', () =>
    withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      rig.at.decides = 'nothing'
      const running = signIn(rig)
      await expect.poll(() => rig.opened.length).toBe(1)
      await rig.application.ctx.mcp.stop('web')
      await running
      expect(rig.server().state).toBe('stopped')
      await expect(fetch(new URL(rig.opened[0] ?? '').searchParams.get('redirect_uri') ?? '')).rejects.toThrow('fetch failed')
    }))
  it('one that fails leaves the one before', () =>
    withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      await signIn(rig)
      rig.at.decides = 'deny'
      await signIn(rig)
      expect(rig.server().state).toBe('needs-sign-in')
      await rig.application.ctx.mcp.restart('web')
      expect(rig.server().state).toBe('running')
      rig.at.expire()
      expect(textOf(await rig.call('look'))).toBe('seen')
    }))
})

describe('while the server is used', patient, () => {
  const kept = new Map<string, string>()
  it('one that is too old when the server is reached anew is renewed there, also where secrets take their time', () => {
    const quick = memorySecrets()
    const later = async <T>(work: () => Promise<T>): Promise<T> => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return await work()
    }
    const secrets: Secrets = { ...quick, get: (name) => later(() => quick.get(name)), set: (name, value) => later(() => quick.set(name, value)), delete: (name) => later(() => quick.delete(name)) }
    return withSignIn(
      async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
        rig.at.expire()
        await rig.application.ctx.mcp.restart('web')
        expect([rig.server().state, rig.server().reason, rig.at.renewals.length]).toEqual(['running', null, 1])
      },
      { secrets },
    )
  })
  it('a token that is too old is renewed without a word, once for all who wait for it', () =>
    withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      await signIn(rig)
      await rig.application.ctx.mcp.setTrusted('web', true)
      for (let round = 1; round <= 3; round++) {
        rig.at.expire()
        const results = await Promise.all([1, 2, 3, 4].map(() => rig.call('look')))
        expect(results.map(textOf)).toEqual(['seen', 'seen', 'seen', 'seen'])
      }
      expect([new Set(rig.at.renewals).size, rig.opened.length, rig.server().state]).toEqual([rig.at.renewals.length, 1, 'running'])
    }))
  it('a call whose refusal comes only when another has renewed the token already is made with the new one', () => {
    let isLate = false
    const renewed = Promise.withResolvers<void>()
    const heard = Promise.withResolvers<void>()
    let refusals = 0
    let successes = 0
    return withSignIn(
      async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
        rig.at.expire()
        isLate = true
        const calls = [1, 2].map(() => rig.call('look').finally(() => heard.resolve()))
        expect((await Promise.all(calls)).map(textOf)).toEqual(['seen', 'seen'])
        expect([refusals, rig.at.renewals.length]).toEqual([2, 1])
      },
      {
        alterAnswer: async (url, answer) => {
          if (!isLate || new URL(url).pathname !== '/mcp') return answer
          // The second refusal waits for the first call to be let in with the new token, whose answer waits for what becomes of the second.
          if (answer.status === 401 && ++refusals === 2) await renewed.promise
          if (answer.ok) {
            renewed.resolve()
            if (++successes === 2) heard.resolve()
            await heard.promise
          }
          return answer
        },
      },
    )
  })
  it('one that cannot be renewed ends in a state with its reason, is asked about once, and the tools stay to say so', () =>
    withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      await signIn(rig)
      rig.at.revoke()
      const result = await rig.call('look')
      expect([codeOf(result), textOf(result)]).toEqual(['MCP_SIGN_IN', 'Error: Your sign-in is over, and it does not renew it.'])
      const { reason, tools, isSignedIn } = await rig.until('needs-sign-in')
      expect([reason, tools.length > 0, isSignedIn]).toEqual(['Your sign-in is over, and it does not renew it.', true, false])
      const requests = rig.at.requests.length
      expect(textOf(await rig.call('look'))).toBe('Error: The MCP server web does not run. Your sign-in is over, and it does not renew it. The person can sign in with “/mcp sign-in web”. Go on without it.')
      expect([rig.at.requests.length - requests, rig.at.renewals.length, rig.opened.length]).toEqual([0, 1, 1])
      await signIn(rig)
      expect(textOf(await rig.call('look'))).toBe('seen')
    }))
  it('a server that refuses what it just renewed is not asked again and again', () =>
    withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      await signIn(rig)
      rig.at.isClosed = true
      expect(codeOf(await rig.call('look'))).toBe('MCP_SIGN_IN')
      await rig.until('needs-sign-in')
      const requests = rig.at.requests.length
      await rig.application.ctx.mcp.restart('web')
      expect([rig.server().state, rig.at.requests.length - requests < 20]).toEqual(['needs-sign-in', true])
    }))
  it.each([
    ['which takes it back', 'both', null, ['refresh_token', 'access_token'], 0],
    ['which does not take it back', 'refuses', /^What it gave for your sign-in is forgotten here, and may count there until it runs out: it answered 400: .*\[left out\] stays.*\.$/, ['refresh_token'], 1],
    ['which has no way to take it back', 'not', /^What it gave for your sign-in is forgotten here, and may count there until it runs out: it offers no way to take it back\.$/, [], 1],
  ] as const)('signing out tells the server, %s', (_name, revokes, left, revocations, tokens) =>
    withSignIn(
      async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
        expect(rig.at.tokens().length).toBe(1)
        const told = await rig.application.ctx.mcp.signOut('web')
        expect(told).toEqual(left === null ? null : expect.stringMatching(left))
        if (told !== null) expect(rig.application.ctx.mcp.log('web').join('\n')).toContain(told)
        expect([rig.at.revocations, rig.at.tokens().length, rig.server().state, rig.server().isSignedIn]).toEqual([revocations, tokens, 'needs-sign-in', false])
        expect(traces(rig) + told).not.toMatch(/access-|refresh-/)
      },
      { at: { revokes } },
    ))
  it('signing out forgets it here also where the server cannot be told', () =>
    withSignIn(
      async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
        await rig.at.close()
        expect((await rig.application.ctx.commands.run(rig.agent, '/mcp sign-out web')).text).toMatch(/^What it gave for your sign-in is forgotten here, and may count there until it runs out: whoever gave it cannot be reached.*\.\nweb: /)
        expect([...kept.values()]).toEqual([])
      },
      { entry: { reconnect: { enabled: false } }, secrets: { ...memorySecrets(), get: (name) => Promise.resolve(kept.has(name) ? { value: kept.get(name) ?? '', source: 'store' as const } : null), set: (name, value) => Promise.resolve(void kept.set(name, value)), delete: (name) => Promise.resolve(void kept.delete(name)) } },
    ))
  it('/mcp sign-out forgets it', () =>
    withSignIn(async (rig) => {
      await rig.until('needs-sign-in')
      await signIn(rig)
      expect((await rig.application.ctx.commands.run(rig.agent, '/mcp sign-out web')).text).toBe('web: needs-sign-in. It wants you to sign in. You can sign in with “/mcp sign-in web”.')
      await rig.application.ctx.mcp.restart('web')
      expect(rig.server()).toMatchObject({ state: 'needs-sign-in', isSignedIn: false })
    }))
})

it('a server that takes only programs that it knows is told which one this is, at the port that it knows', patient, async () => {
  const { port } = await freePort()
  await withSignIn(
    async (rig) => {
      rig.at.know({ client_id: 'bosun-1', client_secret: 'known secret', redirect_uris: [`http://127.0.0.1:${port}/callback`] })
      await rig.until('needs-input')
      await rig.application.ctx.mcp.giveInput('web', 'secret', 'known secret')
      await rig.until('needs-sign-in')
      await signIn(rig)
      expect([rig.server().state, rig.at.registrations, new URL(rig.opened[0] ?? '').searchParams.get('redirect_uri')]).toEqual(['running', [], `http://127.0.0.1:${port}/callback`])
      rig.at.expire()
      expect(textOf(await rig.call('look'))).toBe('seen')
      expect(rig.at.renewals.length).toBeGreaterThan(0)
      expect([await rig.application.ctx.mcp.signOut('web'), rig.at.revocations]).toEqual([null, ['refresh_token', 'access_token']])
      expect(traces(rig)).not.toMatch(/known secret/)
    },
    { at: { registers: false }, entry: { oauth: { clientId: 'bosun-1', clientSecret: '${input:secret}', callbackPort: port } } },
  )
})

describe('an entry with a token of its own', patient, () => {
  it('goes before any sign-in, and is sent to its server alone', () =>
    withSignIn(
      async (rig) => {
        expect(await rig.until('needs-sign-in')).toMatchObject({ canSignIn: false, reason: 'It refuses the header “Authorization” of its entry.' })
        await expect(signIn(rig)).rejects.toMatchObject({ code: 'MCP_SIGN_IN', message: 'Nobody signs in at web: its entry gives the header “Authorization”.' })
      },
      { entry: { headers: { authorization: 'Bearer typed' } } },
    ))
  it('other headers are not told to another server that lets people sign in', async () => {
    const elsewhere = await startSignInServer()
    const { origin } = new URL(elsewhere.url)
    await withSignIn(
      async (rig) => {
        await rig.until('needs-sign-in')
        await signIn(rig)
        expect([rig.server().state, new Set(elsewhere.header('x-key')), rig.at.header('x-key').includes('k')]).toEqual(['needs-sign-in', new Set([undefined]), true])
      },
      { entry: { headers: { 'x-key': 'k' } }, open: (url) => fetch(`${origin}/authorize${new URL(url).search}`).then(() => false) },
    )
    await elsewhere.close()
  })
})

it('a program of this machine has no sign-in', async () => {
  const rig = await mcpRig({ demo: { command: '/nowhere' } }, { alter: (world) => ({ ...world, mcpSignIn: createBrowserReturn({ clock: realClock, words, external: (url) => Promise.resolve(url), open: () => Promise.resolve(true) }) }) })
  await rig.until('failed')
  await expect(rig.application.ctx.mcp.signIn('demo')).rejects.toMatchObject({ message: 'Nobody signs in at demo: it is a program of this machine.' })
  await rig.dispose()
})
