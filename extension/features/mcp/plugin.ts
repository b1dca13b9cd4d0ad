import { clipped } from '../../base/text.ts'
import type { CommandDefinition } from '../../core/commands/command.ts'
import type { Context, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/model/contract.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import { settings } from '../../core/settings/specs.ts'
import type {} from '../../core/tools/service.ts'
import { MAX_MENU_CHARS, promptArguments, promptCommandName, promptHint } from './prompt-commands.ts'
import { wordsOf } from '../../core/tools/lent/result-content.ts'
import { serverFileNames, serversKey } from './server-files.ts'
import { serverWordsSection } from './server-words.ts'
import { McpServers, type McpNeeds } from './servers.ts'
import type { Mcp } from './service.ts'

export interface McpPluginNeeds extends McpNeeds {
  readonly workspace: McpNeeds['workspace'] & {
    onDidChangeTrust(listener: () => void): () => void
    onDidChangeFolders(listener: () => void): () => void
    onDidChangeFiles?(names: readonly string[], listener: (path: string) => void): () => void
  }
  readonly machine: McpNeeds['machine'] & { randomId(): string }
}

/**
 * Servers of the Model Context Protocol: their tools in the registry with what they say of them, their prompts among the commands.
 *
 * Nothing is read or started before a session or a view wants it; then everything happens beside the talk, and a first step waits a
 * little for servers that are starting. Source: runtime specification 21.
 */
export function mcpPlugin(needs: McpPluginNeeds): Plugin {
  return {
    name: 'mcp',
    inject: ['settings', 'tools', 'commands', 'systemPrompt'],
    apply(ctx) {
      const servers = new McpServers(ctx, needs)
      ctx.provide('mcp', servers)
      ctx.tools.explainAbsent((name) => servers.absence(name))
      ctx.commands.contribute(promptSource(servers))
      ctx.systemPrompt.section({ name: 'mcp-servers', order: 118, text: ({ scope }) => serverWordsSection(servers.words((name) => ctx.tools.get(name, scope) !== undefined)) })
      follow(ctx, servers, needs)
      return () => servers.dispose()
    },
  }
}

function follow(ctx: Context, servers: McpServers, { workspace }: McpPluginNeeds): void {
  ctx.on('agent/created', () => servers.wake())
  ctx.on('agent/pre-step', async ({ step, signal }, next) => {
    // A server that takes longer joins with a later step.
    if (step === 1) {
      await servers.settledWithin(ctx.settings.get(settings.mcpStartWaitMs), signal)
      await servers.needed(signal)
    }
    return await next()
  })
  const refresh = () => {
    if (servers.isAwake) servers.refresh()
  }
  ctx.effect(workspace.onDidChangeTrust(refresh))
  ctx.effect(workspace.onDidChangeFolders(refresh))
  ctx.effect(workspace.onDidChangeFiles?.(serverFileNames, refresh) ?? (() => {}))
  ctx.effect(
    ctx.settings.onDidChange((key) => {
      if ([serversKey, settings.mcpAllowed.key, settings.mcpFiles.key].includes(key)) refresh()
    }),
  )
}

/** The prompts of all servers that run, as commands. */
function promptSource(servers: McpServers & Mcp) {
  const commandsNow = (): readonly CommandDefinition[] => {
    // Whoever looks at the commands before there is a session wants those of servers too.
    servers.wake()
    return servers.report().servers.flatMap(({ name: server, prompts }) =>
      prompts.map((prompt): CommandDefinition => {
        const hint = promptHint(prompt)
        return {
          name: promptCommandName(server, prompt.name),
          description: clipped(prompt.description === '' ? `The prompt ${prompt.name} of ${server}` : prompt.description, MAX_MENU_CHARS),
          ...(hint !== '' && { input: { hint } }),
          async run({ args, signal, send }) {
            const messages = await servers.prompt(server, { name: prompt.name, arguments: promptArguments(prompt, args) }, signal)
            // A talk that begins with the model's words is told as one text, with who said what.
            const isOnlyUser = messages.every(({ role }) => role === 'user')
            const text = messages.map(({ role, content }) => (isOnlyUser ? wordsOf([content]) : `${role === 'user' ? 'User' : 'Assistant'}: ${wordsOf([content])}`)).join('\n\n')
            if (text.trim() === '') throw new Error(`The prompt ${prompt.name} of ${server} is empty.`)
            send([{ type: 'text', text }], 'next-turn')
            return {}
          },
        }
      }),
    )
  }
  return {
    list: () => {
      const taken = new Map<string, number>()
      // Prompts whose names fall together to one are told apart by a number.
      return commandsNow().map((command) => {
        const count = (taken.get(command.name) ?? 0) + 1
        taken.set(command.name, count)
        return count === 1 ? command : { ...command, name: `${command.name}_${count}` }
      })
    },
    onDidChange: (listener: () => void) => servers.onDidChange(listener),
  }
}
