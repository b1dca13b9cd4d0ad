import type {} from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import { remedyFor } from './remedies.ts'
import type { Mcp, McpServerReport } from './service.ts'

const actions = ['allow', 'restart', 'stop', 'log', 'input', 'sign-in', 'sign-out', 'trust', 'distrust'] as const
type Action = (typeof actions)[number]

/** `/mcp`: every server with its state, its reason and its tools; with an action and a name, that is done. */
export const mcpCommand: Plugin = {
  name: 'mcp-command',
  inject: ['commands', 'mcp'],
  apply(ctx) {
    ctx.commands.register({
      name: 'mcp',
      description: 'List the MCP servers, or act on one: /mcp restart name.',
      input: { hint: `${actions.join(', ')}, and a server (optional)` },
      // Somebody may type a secret behind “input”; what is done says its server anyway.
      hidesArguments: true,
      async run({ args }) {
        await ctx.mcp.reread()
        const [word = '', ...typed] = args.trim().split(/\s+/)
        if (word === '') return { text: listText(ctx.mcp) }
        const action = actions.find((known) => known === word)
        if (action === undefined) throw new Error(`/mcp takes ${actions.join(', ')}, or nothing.`)
        const { servers } = ctx.mcp.report()
        const names = servers.map((server) => server.name).join(', ')
        const found = namedFirst(servers, typed.join(' '))
        if (found === undefined) throw new Error(typed.length === 0 ? `Which server? ${names || 'There is none.'}` : `There is no such MCP server. There are: ${names || 'none'}.`)
        const { name, rest: [id = '', ...more] } = found
        if (more.length > 0 || (id !== '' && action !== 'input')) throw new Error(action === 'input' ? 'Do not type the value: say “/mcp input” with the server, and a box asks for it.' : `/mcp ${action} takes one server.`)
        return { text: await act(ctx.mcp, action, { name, id }) }
      },
    })
  },
}

/** The server whose name a line begins with, as its tools bear it or as it is configured, in quotes too; and the words behind it. */
function namedFirst(servers: readonly McpServerReport[], line: string): { readonly name: string; readonly rest: readonly string[] } | undefined {
  const ways = servers.flatMap(({ name, title }) => [name, title, `"${title}"`].map((way) => ({ name, way })))
  const found = ways.filter(({ way }) => `${line} `.startsWith(`${way} `)).toSorted((left, right) => right.way.length - left.way.length)[0]
  return found && { name: found.name, rest: line.slice(found.way.length).split(' ').filter((word) => word !== '') }
}

async function act(mcp: Mcp, action: Action, { name, id }: { readonly name: string; readonly id: string }): Promise<string> {
  switch (action) {
    case 'log':
      return mcp.log(name).slice(-100).join('\n') || 'Its log is empty.'
    case 'input':
      return await input(mcp, name, id)
    case 'trust':
    case 'distrust':
      await mcp.setTrusted(name, action === 'trust')
      return action === 'trust' ? `${name}: its word counts for which of its tools only read, and those may run beside each other.` : `${name}: its tools run one at a time.`
    case 'allow':
      await mcp.allow([name])
      break
    case 'sign-in':
      await mcp.signIn(name)
      break
    case 'sign-out':
      return [await mcp.signOut(name), serverText(reportOf(mcp, name))].filter((part) => part !== null).join('\n')
    case 'restart':
    case 'stop':
      await mcp[action](name)
  }
  return serverText(reportOf(mcp, name))
}

/** Ask for one input, or for all that are missing; where none is, for all there are, to give other values. */
async function input(mcp: Mcp, name: string, id: string): Promise<string> {
  const { inputs, missingInputs } = reportOf(mcp, name)
  if (inputs.length === 0) return `${name} needs no input.`
  // What is typed in the place of an id may be the secret itself, so it is not said again.
  if (id !== '' && !inputs.some((known) => known.id === id)) throw new Error(`${name} has no such input. It has: ${inputs.map((known) => known.id).join(', ')}.`)
  const ids = id === '' ? (missingInputs.length > 0 ? missingInputs : inputs).map((known) => known.id) : [id]
  for (const each of ids) if (!(await mcp.askInput(name, each))) return `${name}: nothing was given for ${each}.`
  return serverText(reportOf(mcp, name))
}

function reportOf(mcp: Mcp, name: string): McpServerReport {
  const found = mcp.report().servers.find((server) => server.name === name)
  if (found === undefined) throw new Error(`The MCP server ${name} is not configured any more.`)
  return found
}

function listText(mcp: Mcp): string {
  const { servers, skipped, note } = mcp.report()
  const lines = [...(note === undefined ? [] : [note]), ...servers.map(serverText), ...skipped.map(({ source, name, reason }) => `${name === '' ? '' : `${name}, `}${source}: ${reason}`)]
  return lines.length === 0 ? 'There are no MCP servers. Name them in the setting bosun.mcp.servers or in .bosun/mcp.json.' : lines.join('\n')
}

/** A server as `/mcp` tells it: how it stands, why, what the person can do, and its tools. */
export function serverText({ name, title, state, reason, problem, target, source, tools, canSignIn }: McpServerReport): string {
  const remedy = remedyFor(state, name, { canSignIn })
  return [
    [
      `${title === name ? name : `${title} (${name})`}: ${state === 'waits' ? `waits for your consent: it would ${/^https?:/.test(target) ? 'be reached at' : 'run'} ${target} (${source})` : state}`,
      reason,
      problem,
      remedy === null ? null : `You can ${remedy}.`,
    ]
      .filter((part) => part !== null)
      .map((part, index, all) => (index === 0 && all.length > 1 ? `${part}.` : part))
      .join(' '),
    ...tools.map(({ name: tool, isOn, problem: trouble }) => `  ${tool}${trouble !== null ? `: ${trouble}` : isOn ? '' : ' (off)'}`),
  ].join('\n')
}
