import type { Agent } from '../../extension/core/session/agent.ts'
import type { ModelAdapter, ModelRequest } from '../../extension/core/model/contract.ts'
import type { Application, Capabilities } from '../../extension/compose.ts'
import type { TeamMember, TeamTask } from '../../extension/features/teams/events.ts'
import { prompt, settled } from './loop-rig.ts'
import type { SettingValues } from './memory-settings.ts'
import { createScriptedAdapter, sayText, type ScriptedAnswer } from './scripted-adapter.ts'
import { wholeApplication } from './whole-application.ts'

/** Answers by the name of the member; each serves once, and from then on it says that it is done. */
export type TeamMinds = { [name: string]: ScriptedAnswer[] }

/** Which member a request is of, as its prompt says; a helper is `helper`. */
export const memberOf = ({ system = '' }: ModelRequest): string => /You are the teammate ([\w-]+)/.exec(system)?.[1] ?? (system.includes('You are the Lead (name: lead)') ? 'lead' : 'helper')

export type TeamRig = Awaited<ReturnType<typeof createTeamRig>>

/** The whole application on the preset `team`, over this machine's disk; each member has a mind of its own. */
export async function createTeamRig({ minds = {}, settings = {}, alter, preset = 'team', home, resume }: { readonly home?: string; /** The session of a Lead that an earlier application left in `home`. */ readonly resume?: string; readonly minds?: TeamMinds; readonly settings?: SettingValues; readonly alter?: (world: Capabilities) => Capabilities; readonly preset?: string } = {}) {
  const requests = new Map<string, ModelRequest[]>()
  const adapter: ModelAdapter = {
    ...createScriptedAdapter(),
    stream(request) {
      const name = memberOf(request)
      requests.set(name, [...(requests.get(name) ?? []), request])
      return createScriptedAdapter([minds[name]?.shift() ?? sayText(`${name} is done`)]).stream(request)
    },
  }
  const whole = await wholeApplication({
    settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access', ...settings },
    adapters: [adapter],
    ...(alter && { alter }),
    ...(home !== undefined && { home }),
  })
  let application: Application = whole
  let lead = resume === undefined ? await whole.ctx.agents.create({ cwd: whole.folder, preset }) : await whole.ctx.agents.resume(resume)
  let calls = 0

  const quiet = async () => {
    for (;;) {
      await settled()
      await Promise.all(application.ctx.agents.list().map((agent) => agent.whenIdle()))
      await new Promise((resolve) => setTimeout(resolve, 10))
      if (!application.ctx.agents.list().some(({ status }) => status === 'running')) return
    }
  }
  const exec = async (agent: Agent, name: string, args: object = {}, signal = new AbortController().signal): Promise<{ readonly code?: string | undefined; readonly text: string; readonly value?: unknown }> => {
    const result = await application.ctx.tools.execute({ callId: `direct ${++calls}`, name, arguments: args, agent, signal })
    return result.isError ? { code: result.error.info?.code, text: result.error.message } : { value: result.value, text: result.content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
  }
  return {
    whole,
    minds,
    get ctx() {
      return application.ctx
    },
    get lead() {
      return lead
    },
    asked: (name: string) => requests.get(name) ?? [],
    exec,
    quiet,
    /** A teammate that was started and rests, asleep. */
    async spawn(name: string, more: object = {}): Promise<TeamMember> {
      const { value, text } = (await exec(lead, 'spawn_teammate', { name, description: `Does ${name}`, prompt: `Begin, ${name}.`, ...more })) as { value?: { member: TeamMember }; text: string }
      if (value === undefined) throw new Error(text)
      return value.member
    },
    live: (id: string) => application.ctx.agents.live(id) ?? (() => { throw new Error(`${id} is not live`) })(),
    /** The records of the Lead's log, short. */
    records: () => lead.session.events().flatMap((event) => {
      if (event.type === 'team/member') return [`${event.data.member.name} ${event.data.member.phase}`]
      if (event.type === 'team/task') return [`${event.data.task.id}@${event.data.task.revision} ${event.data.task.status}`]
      if (event.type === 'team/message/queued') return [`queued ${event.data.message.content[1]?.text ?? ''}`]
      return event.type === 'team/message/delivered' ? ['delivered'] : []
    }),
    tasks: () => new Map<string, TeamTask>(lead.session.events().flatMap((event) => (event.type === 'team/task' ? [[event.data.task.id, event.data.task] as const] : []))),
    /** Words of the team that reached a session, in its log. */
    async mailOf(id: string): Promise<readonly string[]> {
      const session = application.ctx.sessions.live(id)
      const events = session?.events() ?? (await application.ctx.sessions.readTail(id, 10_000)).events
      const inserted = events.flatMap((event) => (event.type === 'agent/inbox/spliced' ? event.data.inserted : []))
      return inserted.flatMap(({ source, content }) => (source.kind === 'team-message' ? [content.map((block) => (block.type === 'text' ? block.text : '')).slice(1).join('')] : []))
    },
    say: async (text: string) => {
      lead.followup(prompt(text))
      await quiet()
    },
    /** As after a reload of the window, with the Lead live again. */
    async restart(): Promise<void> {
      application = await whole.restart()
      lead = await application.ctx.agents.resume(lead.id)
      await quiet()
    },
    dispose: () => whole.dispose(),
  }
}
