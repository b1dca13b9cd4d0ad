import type {} from '../commands/command.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type { SandboxMode } from '../log/event.ts'
import type { Permissions } from './permissions.ts'

/** `/permission` says what the session may do, or sets it. It waits until there are commands. Source: runtime specification 18.3. */
export function permissionCommand(permissions: Permissions): Plugin {
  return {
    name: 'permission-command',
    inject: ['commands'],
    apply(ctx) {
      ctx.commands.register({
        name: 'permission',
        description: 'Say what this session may do, or change it.',
        input: { hint: 'read-only, workspace-write or danger-full-access' },
        run({ agent, args }) {
          if (args === '') return { text: report(permissions, agent.id) }
          const [name = '', consent, ...more] = args.toLowerCase().split(/\s+/)
          const mode = modes.get(name)
          if (mode === undefined || more.length > 0) throw new Error(`There are no permissions named ${args}. Use read-only, workspace-write or danger-full-access.`)
          if (mode === 'danger-full-access' && permissions.presetOf(agent.id) !== mode && consent !== 'yes') {
            throw new Error('With full access Bosun changes any file and runs any command without asking. If you want that, type /permission danger-full-access yes.')
          }
          permissions.select(agent.id, mode)
          return { text: report(permissions, agent.id) }
        },
      })
    },
  }
}

const modes: ReadonlyMap<string, SandboxMode> = new Map<string, SandboxMode>([
  ['read-only', 'read-only'],
  ['workspace-write', 'workspace-write'],
  ['ask', 'workspace-write'],
  ['danger-full-access', 'danger-full-access'],
])

function report(permissions: Permissions, sessionId: string): string {
  const preset = permissions.presetOf(sessionId)
  const rules = permissions.rules(sessionId).length
  const kept = rules === 0 ? '' : ` ${rules} ${rules === 1 ? 'rule holds' : 'rules hold'}.`
  return `Permissions: ${preset}. ${words[preset]}${kept}`
}

const words = {
  'read-only': 'Bosun may look, and change nothing.',
  'workspace-write': 'Bosun asks before it changes files or does what may harm.',
  'danger-full-access': 'Bosun does everything without asking, except what throws work away.',
  custom: 'Its parts were set one by one. Choose one of the three to set them together.',
} as const
