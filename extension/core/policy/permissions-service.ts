import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { ScopeKey } from '../kernel/plugin.ts'
import type { SandboxMode } from '../log/event.ts'
import type { UserMessage } from '../log/message.ts'
import { noticeMessage } from '../log/notice.ts'
import type { Preset, Presets } from '../presets/preset.ts'
import type { Agent } from '../session/agent.ts'
import type { Session } from '../session/session.ts'
import type { Settings } from '../settings/settings.ts'
import { settings as specs, type PermissionRuleSetting } from '../settings/specs.ts'
import type { CappedCall, Permissions } from './permissions.ts'
import { createRuleStore, ruleText, type RuleStore } from './rule-store.ts'
import { parseRule, type Rule, type RuleChoice } from './rules.ts'
import { createPermissionFold, ruleKey, type SessionPermissions } from './session-permissions.ts'
import { effectOf, ownEffects, type DescribeEffect, type PlanEdit } from './tool-effects.ts'

interface Parts {
  readonly source: SettingsSource
  readonly settings: Pick<Settings, 'get' | 'onDidChange'>
  readonly workspace: Workspace
  readonly machine: Pick<Machine, 'randomId'>
  readonly logger: Logger
  /** Undefined while there are none. */
  readonly presets?: () => Pick<Presets, 'get' | 'presetOf'> | undefined
  /** The folder that a session may not leave by writing. Absent: there are none. */
  readonly wallOf?: (session: Session | undefined) => string | null
  /** The tool that a layer sees under a name, as an identity. Absent: tools are known by name. */
  readonly toolAt?: (name: string, scope: ScopeKey | null) => object | undefined
}

/** What the policy and the approvals ask beyond the public service. */
export interface PermissionBook extends Permissions {
  modeIn(session: Session | undefined): SandboxMode
  /** Full access, but for the folder that it may not leave. */
  isFreeWithin(session: Session | undefined): boolean
  /** Words of a cap that holds a session to reading, or null. */
  capIn(session: Session | undefined, call?: CappedCall): string | null
  policyIn(session: Session): 'ask' | 'never'
  isTurnOpen(session: Session): boolean
  /** Rules that hold in a session: the stored ones and its own. */
  rulesIn(session: Session | undefined): readonly Rule[]
  /** Keep a rule for as long as its choice says, asked for by `agent`; those of a session and of its agents live in its log. Errors: the failure of the settings or the log. */
  keep(choice: RuleChoice, agent: Agent): Promise<void>
  /**
   * Write down what a session starts with: all three facts for a new one, the missing ones for an old one. A child takes over what its
   * owner may do when it starts, and keeps that when it is resumed.
   */
  pin(agent: Agent, source: 'startup' | 'resume' | 'clear' | 'compact'): void
  /** Another preset was chosen for a session in which nothing was said: it starts as that one says, unless the person chose. */
  startAnew(agent: Agent): void
  track(agent: Agent): void
  forget(agent: Agent): void
  dispose(): void
}

const fromTightest: readonly SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access']

/** A preset goes before the setting; one that a workspace wrote, or chose, only where it is tighter. */
function startMode(preset: Preset | undefined, { set, chosenByWorkspace }: { readonly set: SandboxMode; readonly chosenByWorkspace: unknown }): SandboxMode {
  const asked = preset?.permissions
  if (preset === undefined || asked === undefined) return set
  const mayWiden = preset.isFromWorkspace !== true && chosenByWorkspace !== preset.id
  return mayWiden || fromTightest.indexOf(asked) < fromTightest.indexOf(set) ? asked : set
}

const policyOf = (mode: SandboxMode) => (mode === 'danger-full-access' ? 'never' : 'ask')

/** One book for all sessions of this host. */
export function createPermissionBook({ source, settings, workspace, machine, logger, presets = () => undefined, toolAt, wallOf = () => null }: Parts): PermissionBook {
  const fold = createPermissionFold()
  const store: RuleStore = createRuleStore(source, logger)
  const agents = new Map<string, Agent>()
  const effects = new Map<string, DescribeEffect>(ownEffects)
  const planners = new Map<string, PlanEdit>()
  /** Effects of tools that are known by themselves, whatever their name. */
  const bound = new WeakMap<object, DescribeEffect>()
  const caps = new Set<Parameters<Permissions['cap']>[0]>()
  const changes = new Emitter<void>((error) => logger.error('A listener for permissions failed.', { error: String(error) }))
  const tell = () => changes.emit()
  const undos = [
    workspace.onDidChangeTrust(tell),
    settings.onDidChange((key) => {
      if (key.startsWith('permissions.')) tell()
    }),
  ]

  const capped = (mode: SandboxMode): SandboxMode => (workspace.isTrusted() ? mode : 'read-only')
  const startOf = (preset: Preset | undefined) => startMode(preset, { set: settings.get(specs.permissionsDefaultPreset), chosenByWorkspace: source.inspect(specs.agentDefaultPreset.key).workspace })
  const startFor = (agent: Agent) => startOf(presets()?.presetOf(agent.scope))
  /** Modes that sessions have from their presets and nobody chose. */
  const started = new WeakMap<Session, SandboxMode>()
  const defaultMode = (preset?: string) => capped(startOf(preset === undefined ? undefined : presets()?.get(preset)))
  const ownMode = (session: Session) => fold(session).mode ?? settings.get(specs.permissionsDefaultPreset)
  /** Never more than those that started it may do by now. */
  const chosenIn = (session: Session) =>
    capped(withOwners(session).map(ownMode).reduce((left, right) => (fromTightest.indexOf(right) < fromTightest.indexOf(left) ? right : left)))
  const isFreeWithin = (session: Session | undefined) => session !== undefined && wallOf(session) !== null && chosenIn(session) === 'danger-full-access'
  const modeIn = (session: Session | undefined) => (session === undefined ? defaultMode() : isFreeWithin(session) ? 'workspace-write' : chosenIn(session))
  const ownRules = (session: Session): readonly PermissionRuleSetting[] => [...fold(session).rules, ...fold(session).treeRules]

  function select(sessionId: string, mode: SandboxMode): void {
    const agent = agents.get(sessionId)
    if (agent === undefined || agent.isDisposed) throw new Error('This session is not open here. Open it, then change what it may do.')
    if (!workspace.isTrusted() && mode !== 'read-only') throw new Error('This folder is not trusted, so Bosun may only read. Trust the folder first.')
    const { session } = agent
    const before = fold(session)
    const wasMode = before.mode
    if (before.preset === mode && wasMode === mode && before.policy === policyOf(mode)) return
    session.append({ type: 'permission/preset', data: { preset: mode } })
    appendDiffering(session, mode)
    if (wasMode !== mode) agent.inject(notice(machine.randomId(), mode))
    tell()
  }

  /** A child may do what its owner may when it starts; the events say where that comes from. */
  function inherit(session: Session, owner: Session): void {
    const { mode, policy } = fold(session)
    const from = fold(owner)
    const start = from.mode ?? settings.get(specs.permissionsDefaultPreset)
    if (mode !== start) session.append({ type: 'sandbox/mode', data: { mode: start, source: 'delegation' } })
    const asks = settings.get(specs.subagentsApprovals) === 'deny' ? 'never' : (from.policy ?? policyOf(start))
    if (policy !== asks) session.append({ type: 'approval/policy', data: { policy: asks, source: 'delegation' } })
  }

  const policyIn = (session: Session): 'ask' | 'never' => (workspace.isTrusted() ? (fold(session).policy ?? policyOf(modeIn(session))) : 'never')

  /** What holds an agent to reading holds those that it started. */
  function withOwners(session: Session | undefined): readonly [Session, ...Session[]] | readonly [] {
    if (session === undefined) return []
    const sessions: [Session, ...Session[]] = [session]
    for (let owner = agents.get(session.id)?.owner; owner !== undefined; owner = owner.owner) sessions.push(owner.session)
    return sessions
  }

  /** Standing answers of a session. What was denied to those that started it is denied to it; what they may do, by setting. */
  function heldBy(session: Session | undefined): readonly PermissionRuleSetting[] {
    const [own, ...owners] = withOwners(session)
    if (own === undefined) return []
    const isInherited = settings.get(specs.subagentsApprovals) === 'inherit'
    return [...ownRules(own), ...owners.flatMap((owner) => [...fold(owner).treeRules, ...fold(owner).rules.filter(({ decision }) => isInherited || decision !== 'allow')])]
  }

  function describeOf(tool: string, scope: ScopeKey | null): DescribeEffect | undefined {
    const definition = toolAt?.(tool, scope)
    if (definition === undefined) return effects.get(tool)
    // Who registers a tool under a known name in a nearer layer does not get what the known one may do.
    return bound.get(definition) ?? (definition === toolAt?.(tool, null) ? effects.get(tool) : undefined)
  }

  function bind(tool: string, describe: DescribeEffect, scope: ScopeKey): Undo {
    const definition = toolAt?.(tool, scope)
    if (definition === undefined) throw new Error(`There is no tool ${tool} in that layer. Register it, then declare its effect.`)
    bound.set(definition, describe)
    return () => {
      if (bound.get(definition) === describe) bound.delete(definition)
    }
  }

  function appendDiffering(session: Session, mode: SandboxMode): void {
    const { mode: current, policy }: SessionPermissions = fold(session)
    if (current !== mode) session.append({ type: 'sandbox/mode', data: { mode } })
    if (policy !== policyOf(mode)) session.append({ type: 'approval/policy', data: { policy: policyOf(mode) } })
  }

  return {
    defaultMode,
    modeIn,
    isFreeWithin,
    modeOf: (sessionId) => modeIn(agents.get(sessionId)?.session),
    presetOf(sessionId) {
      const session = agents.get(sessionId)?.session
      const mode = modeIn(session)
      return session === undefined || !workspace.isTrusted() || policyIn(session) === policyOf(mode) ? mode : 'custom'
    },
    select,
    policyIn,
    isTurnOpen: (session) => fold(session).isTurnOpen,
    rulesIn: (session) => [...store.rules(), ...heldBy(session).map((rule) => parseRule(rule, 'session'))],
    rules(sessionId) {
      const session = sessionId === undefined ? undefined : agents.get(sessionId)?.session
      const own = session === undefined ? [] : ownRules(session)
      return [...store.list(), ...own.map((rule) => ({ text: ruleText(rule), scope: 'session' as const, isFromWorkspace: false, rule }))]
    },
    async revoke(listed) {
      if (listed.scope === 'session') {
        const key = ruleKey(listed.rule)
        const holders = [...agents.values()].filter(({ session }) => ownRules(session).some((rule) => ruleKey(rule) === key))
        for (const { session } of holders) session.append({ type: 'permission/rule-revoked', data: { rule: key } })
        await Promise.all(holders.map(({ session }) => session.flush()))
      } else await store.revoke(listed)
      tell()
    },
    uses(sessionId) {
      const session = agents.get(sessionId)?.session
      return session === undefined ? new Map<string, number>() : fold(session).uses
    },
    cap(cap) {
      caps.add(cap)
      return () => void caps.delete(cap)
    },
    capIn(session, call) {
      for (const one of withOwners(session)) {
        for (const cap of caps) {
          const words = cap(one, call)
          if (words !== null) return words
        }
      }
      return null
    },
    declare(tool, describe, scope) {
      if (scope !== undefined) return bind(tool, describe, scope)
      if (effects.has(tool)) throw new Error(`The effect of ${tool} is declared already.`)
      effects.set(tool, describe)
      return () => {
        if (effects.get(tool) === describe) effects.delete(tool)
      }
    },
    planEdits(tool, plan) {
      if (planners.has(tool)) throw new Error(`How ${tool} edits is declared already.`)
      planners.set(tool, plan)
      return () => void planners.delete(tool)
    },
    effectOf(tool, args, scope = null) {
      const describe = describeOf(tool, scope)
      const effect = effectOf(describe, args, scope)
      const plan = describe === effects.get(tool) ? planners.get(tool) : undefined
      return effect.kind === 'edit' && plan !== undefined ? { ...effect, plan } : effect
    },
    async keep({ scope, rules }, agent) {
      if (scope === 'tree') {
        const session = rootOf(agent).session
        session.append({ type: 'permission/rule-granted', data: { rule: JSON.stringify({ scope, rules }) }, ignorable: true })
        await session.flush()
      } else if (scope !== 'session') await store.add(rules)
      tell()
    },
    pin(agent, source) {
      const { session, owner } = agent
      if (session.access === 'read-only') return
      const { preset, mode, policy } = fold(session)
      if (owner !== undefined) return source === 'resume' && mode !== undefined ? undefined : inherit(session, owner.session)
      const usual = startFor(agent)
      const start = mode ?? usual
      if (start === usual && (policy ?? policyOf(usual)) === policyOf(usual)) started.set(session, usual)
      if (preset === undefined) session.append({ type: 'permission/preset', data: { preset: start } })
      if (mode === undefined) session.append({ type: 'sandbox/mode', data: { mode: start } })
      if (policy === undefined) session.append({ type: 'approval/policy', data: { policy: policyOf(start) } })
    },
    startAnew(agent) {
      const { session } = agent
      const { mode, policy } = fold(session)
      const before = started.get(session)
      if (before === undefined || mode !== before || policy !== policyOf(before)) return
      const start = startFor(agent)
      started.set(session, start)
      if (start === before) return
      session.append({ type: 'permission/preset', data: { preset: start } })
      appendDiffering(session, start)
      tell()
    },
    track: (agent) => void agents.set(agent.id, agent),
    forget: (agent) => void agents.delete(agent.id),
    onDidChange: (listener) => changes.listen(listener),
    dispose: () => undos.forEach((undo) => undo()),
  }
}

function rootOf(agent: Agent): Agent {
  let root = agent
  while (root.owner !== undefined) root = root.owner
  return root
}

const modeWords: Readonly<Record<SandboxMode, string>> = {
  'read-only': 'You may only read. Tools and commands that change anything are refused; plan or explain instead.',
  'workspace-write': 'You may read the workspace. Changing files and running commands that do more than read asks the person first, unless a rule of theirs allows it.',
  'danger-full-access': 'You may change files and run commands without asking, except for what throws work away. Be careful.',
}

/** For the runtime context: what the model may do. */
export const contextText = (mode: SandboxMode) => `Permission mode: ${mode}. ${modeWords[mode]}`

const notice = (id: string, mode: SandboxMode): UserMessage =>
  noticeMessage({ id, plugin: 'permissions', text: `The person changed your permissions to ${mode}. ${modeWords[mode]}`, summary: `Permissions: ${mode}` })
