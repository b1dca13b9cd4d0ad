import { braceExpand } from 'minimatch'
import { isJsonObject, type Json } from '../../base/json.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ShellSyntax } from '../../capabilities/shell-syntax.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { ScopeKey } from '../kernel/plugin.ts'
import type { SandboxMode } from '../log/event.ts'
import type { Session } from '../session/session.ts'
import type { Settings } from '../settings/settings.ts'
import { settings as specs } from '../settings/specs.ts'
import { denialLines } from '../tools/confinement.ts'
import type { ApprovalDetails, DenialCode, Execution, PolicyGrounds, PreExecuteDecision, ToolDefinition } from '../tools/definition.ts'
import { alwaysForCommands, alwaysForEdit, alwaysForHosts, alwaysForLine, alwaysForPages, alwaysForRead, alwaysForSubject, alwaysForText, alwaysForTool } from './always-choices.ts'
import { absolutePath, changingPathMatcher, isWithin, relativeTo, styleOf, type PathStyle } from './paths.ts'
import type { ConfinementBook } from './confinements.ts'
import { escalationOf, justificationWords, reachWords, type Escalation } from './escalation.ts'
import type { PermissionBook } from './permissions-service.ts'
import { commandRuleText, formatRule, matchesCommand, type Rule, type RuleSource } from './rules.ts'
import { ruleKey } from './session-permissions.ts'
import { isFedByInput } from './shell/inner-runs.ts'
import { judgeScript, namedFiles, patternForSecret, type PathWord, type ScriptFacts } from './shell/judge-script.ts'
import { mayMatchSecret } from './shell/secret-patterns.ts'
import { openScript } from './shell/open-script.ts'
import type { ShellCommand, ShellScript } from './shell/shell-parts.ts'
import { fitsRulePath, isAbsolutePattern } from './rule-paths.ts'
import { beyondRule } from './rule-reach.ts'
import { hostsIn, hostsOf, isPlainFetch, matchesHost } from './shell/hosts.ts'
import { redactSecrets } from './redact-secrets.ts'
import type { EditEffect, NetworkEffect, ScriptEffect, ToolEffect, UnknownEffect } from './tool-effects.ts'
import { sharedGitWords, wallWords } from './wall.ts'

interface Parts {
  readonly book: Pick<PermissionBook, 'modeIn' | 'isFreeWithin' | 'capIn' | 'rulesIn' | 'effectOf'>
  readonly confinement: Pick<ConfinementBook, 'isOfferedBy' | 'grant' | 'wayOn' | 'willConfine'>
  /** The tool that a layer sees under a name, as an identity. */
  readonly toolAt: (name: string, scope: ScopeKey | null) => ToolDefinition | undefined
  readonly settings: Pick<Settings, 'get'>
  readonly workspace: Workspace
  readonly files: Pick<FileSystem, 'resolve'>
  readonly machine: Pick<Machine, 'platform' | 'homeFolder' | 'tempFolder'>
  readonly shellSyntax: ShellSyntax
  readonly logger: Logger
  /** Folders of Bosun's own that hold what tools were told to read, such as spilled output. */
  readonly readableFolders: (sessionId: string) => readonly string[]
  /** The folder that a session may not leave by writing. Absent: there are none. */
  readonly wallOf?: (session: Session | undefined) => string | null
}

export interface Judge {
  /** Trust, hard rules, mode, the person's rules, else ask. Source: design 6.2. */
  decide(exec: Execution): Promise<PreExecuteDecision>
  /** The file was made by Bosun with the person's leave, so changing it again asks no more in this session. */
  noteCreated(exec: Execution): void
  /** An agent is gone. */
  forget(agentId: string): void
}

/** Everything one decision looks at, gathered once. */
interface Case {
  readonly exec: Execution
  /** The tool whose rules hold for this one too. */
  readonly also: string | null
  readonly effect: ToolEffect
  /** `read-only` under a cap, whatever the person chose. */
  readonly mode: SandboxMode
  /** Why nothing may change, as a refused call is told it, with the lines that say how it may be asked for. */
  readonly readOnlyWords: string
  readonly wayOn: string
  readonly isCapped: boolean
  readonly rules: readonly Rule[]
  readonly cwd: string
  /** The workspace's folders, links followed; the first is the session's own. */
  readonly folders: readonly string[]
  /** What the session may not leave by writing, links followed; it is the first of the folders then. */
  readonly wall: string | null
}

interface Place {
  readonly spelling: string
  /** As written, absolute. */
  readonly path: string
  /** Links followed. */
  readonly realPath: string
}

/** Reading in the workspace, which needs no word. */
const allow: PreExecuteDecision = { kind: 'allow' }
const allowed = (by: PolicyGrounds['by'], why: string): PreExecuteDecision => ({ kind: 'allow', grounds: { by, why } })
const allowedBy = (rules: readonly Rule[]): PreExecuteDecision => ({ kind: 'allow', grounds: groundsOf(rules) })
const allowedByMode = allowed('mode', 'Full access asks for nothing but what throws work away.')
const deny = (by: PolicyGrounds['by'], reason: string, code?: DenialCode): PreExecuteDecision => ({ kind: 'deny', reason, grounds: { by, why: reason }, ...(code !== undefined && { code }) })

/** Who holds a session to reading. */
const modeOrPlan = ({ isCapped }: Case): 'mode' | 'plan' => (isCapped ? 'plan' : 'mode')

/** What the rules say, with where each stands. */
function groundsOf(rules: readonly Rule[]): PolicyGrounds {
  const known = [...new Map(rules.map((rule) => [ruleKey(formatRule(rule)), rule])).entries()]
  return { by: 'rule', why: `By ${known.map(([, rule]) => `your rule \`${shown(rule)}\` (${sourceWords[rule.source]})`).join(' and ')}.`, rules: known.map(([key]) => key) }
}

const sourceWords: Readonly<Record<RuleSource, string>> = {
  session: 'this session',
  workspace: 'this workspace',
  always: 'always',
  'workspace-settings': 'the settings of the workspace',
}

export function createJudge(parts: Parts): Judge {
  const { book, confinement, settings, workspace, files, machine, shellSyntax, logger, wallOf = () => null } = parts
  const style: PathStyle = styleOf(machine)
  const created = new Map<string, Set<string>>()
  const judged = new WeakMap<Execution['token'], readonly Place[]>()
  const secretOf = changingPathMatcher(() => settings.get(specs.permissionsSensitivePaths), style)

  async function decide(exec: Execution): Promise<PreExecuteDecision> {
    const effect = book.effectOf(exec.name, exec.arguments, exec.agent?.scope)
    const untrusted = trustOf(exec, effect)
    if (untrusted !== null) return untrusted
    const session = exec.agent?.session
    const walled = wallOf(session)
    const rules = book.rulesIn(session)
    const isOffered = confinement.isOfferedBy(parts.toolAt(exec.name, exec.agent?.scope ?? null))
    // Where links lead to is asked of the disk: only for calls that touch files, and for rules that hold in a folder.
    const needsFolders = effect.kind !== 'none' || isOffered || walled !== null || rules.some(({ folder }) => folder !== null)
    const folders = needsFolders ? await foldersOf(session?.header.cwd, walled) : []
    const cap = book.capIn(session, exec)
    const mode = cap === null ? book.modeIn(session) : 'read-only'
    const whole: Case = {
      exec,
      also: null,
      effect,
      mode,
      readOnlyWords: cap ?? readOnlyWords(exec.name),
      wayOn: isOffered && cap === null ? ['', ...denialLines({ mode, wider: confinement.wayOn(exec, mode) }, effect.kind === 'shell' ? 'command' : 'call')].join('\n') : '',
      isCapped: cap !== null,
      rules: rules.filter((rule) => holdsIn(rule, folders)),
      cwd: session?.header.cwd ?? folders[0] ?? machine.homeFolder,
      folders,
      wall: walled === null ? null : (folders[0] ?? walled),
    }
    // Other arguments than before are another call.
    confinement.grant(exec.token, undefined)
    const escalation = isOffered ? escalationOf(exec.arguments, mode) : { kind: 'none' as const }
    if (escalation.kind === 'refused') return deny('mode', escalation.reason, 'INVALID_ARGS')
    if (escalation.kind === 'asked') return whole.wall === null ? decideEscalated(whole, escalation) : deny('mode', wallWords('What you ask for'), 'FS_SANDBOX_DENIED')
    return withoutQuestion(whole, await decideEffect(whole))
  }

  async function decideEffect(whole: Case): Promise<PreExecuteDecision> {
    const { exec, effect } = whole
    switch (effect.kind) {
      case 'none':
        return ruled(whole, []) ?? allow
      case 'read':
        return decideRead(oneMore(whole, 'read'), await placesOf(effect.paths, whole.cwd, exec.signal))
      case 'edit':
        return effect.plan === undefined ? decideEdit(oneMore(whole, 'edit'), await placesOf(effect.paths, whole.cwd, exec.signal)) : decidePlanned(whole, effect.plan)
      case 'shell':
        return decideShell(whole, effect)
      case 'network':
        return decideNetwork(whole, effect)
      case 'script':
        return decideScript(whole, effect)
      case 'unknown':
        return decideUnknown(whole, effect, await placesIn(exec.arguments, whole.cwd, exec.signal))
    }
  }

  /** What is never allowed stays so in the wider mode too, and whatever else the call does is asked for, once. */
  async function decideEscalated(whole: Case, { mode, justification }: Escalation & { readonly kind: 'asked' }): Promise<PreExecuteDecision> {
    const { exec, effect, isCapped, readOnlyWords: words } = whole
    if (isCapped) return deny('plan', words)
    const decision = await decideEffect({ ...whole, mode })
    if (decision.kind === 'deny') return decision
    const details = decision.kind === 'ask' ? decision.details : undefined
    const said = justificationWords(justification)
    confinement.grant(exec.token, mode)
    return ask(whole, {
      effect: `${details?.effect ?? plainAction(exec, effect)} ${reachWords(mode)}`,
      why: details?.mustAsk === true ? `${details.why} ${said}` : said,
      ...(details?.mustAsk === true && { mustAsk: true }),
      ...(details?.changes && { changes: details.changes }),
      escalatesTo: mode,
    })
  }

  /** What is asked for only because nobody knows the command may run where the sandbox holds it, when the person chose so. */
  async function withoutQuestion({ effect, mode, exec }: Case, decision: PreExecuteDecision): Promise<PreExecuteDecision> {
    if (decision.kind !== 'ask' || decision.details?.mustAsk === true || effect.kind !== 'shell' || effect.isConfined !== true) return decision
    if (mode !== 'workspace-write' || !(settings.get(specs.sandboxAllowConfined) || book.isFreeWithin(exec.agent?.session)) || !(await confinement.willConfine(mode))) return decision
    return allowed('effect', 'It runs in the sandbox, which you let commands do without a question.')
  }

  function trustOf({ name }: Execution, effect: ToolEffect): PreExecuteDecision | null {
    if (workspace.isTrusted() || effect.kind === 'none' || effect.kind === 'read') return null
    return deny('trust', `This folder is not trusted, so ${name} is refused; only reading tools work. The person can trust the folder in the editor.`, 'WORKSPACE_UNTRUSTED')
  }

  /** What a session may work in: behind a wall that folder first, and all others to be read. */
  const foldersOf = async (cwd: string | undefined, walled: string | null): Promise<readonly string[]> =>
    walled === null ? realFolders(cwd) : [(await realPath(walled, walled)) ?? walled, ...(await realFolders(undefined))]

  /** The session's own folder first; a folder that is a link counts as what it leads to. */
  async function realFolders(cwd: string | undefined): Promise<readonly string[]> {
    const paths = workspace.folders().map(({ path }) => path)
    const own = cwd !== undefined && !paths.some((path) => isWithin(cwd, path, style)) ? [cwd, ...paths] : paths
    const real = await Promise.all(own.map(async (path) => (await realPath(path, path)) ?? path))
    return real.toSorted((a, b) => Number(cwd !== undefined && isWithin(cwd, b, style)) - Number(cwd !== undefined && isWithin(cwd, a, style)))
  }

  async function realPath(path: string, cwd: string, signal?: AbortSignal): Promise<string | null> {
    try {
      return (await files.resolve(path, cwd, signal)).path
    } catch {
      // A path that no file system can hold; the tool itself says what is wrong with it.
      return null
    }
  }

  async function placesOf(paths: readonly string[], cwd: string, signal: AbortSignal): Promise<readonly Place[]> {
    return Promise.all(
      paths.map(async (spelling) => {
        const path = absolutePath(spelling, cwd, style)
        return { spelling, path, realPath: (await realPath(spelling, cwd, signal)) ?? path }
      }),
    )
  }

  /** Whatever in the arguments of a tool nobody knows may be a path; links are followed for the first of them. */
  async function placesIn(args: Json, cwd: string, signal: AbortSignal): Promise<readonly Place[]> {
    const paths = pathsIn(args)
    const followed = await placesOf(paths.slice(0, MAX_FOLLOWED), cwd, signal)
    const others = paths.slice(MAX_FOLLOWED).map((spelling) => {
      const path = absolutePath(spelling, cwd, style)
      return { spelling, path, realPath: path }
    })
    return [...followed, ...others]
  }

  /** Hard rule: a secret-looking path is closed, under each of its names. */
  function closed(places: readonly Place[]): PreExecuteDecision | null {
    for (const { spelling, path, realPath } of places) {
      const pattern = secretOf(path) ?? secretOf(realPath)
      if (pattern !== null) return deny('secret', closedWords(spelling, pattern))
    }
    return null
  }

  function decideRead(whole: Case, places: readonly Place[]): PreExecuteDecision {
    const hard = closed(places) ?? ruled(whole, places)
    if (hard !== null) return hard
    const outside = places.find((place) => !isReadable(place.realPath, whole))
    if (outside === undefined) return allow
    if (whole.mode === 'danger-full-access') return allowedByMode
    const rules = rulesFor(whole, places)
    if (rules !== null) return allowedBy(rules)
    if (!workspace.isTrusted()) return deny('trust', `${outside.spelling} is outside of the workspace, and this folder is not trusted.`, 'WORKSPACE_UNTRUSTED')
    return ask(whole, {
      effect: `Read \`${outside.spelling}\``,
      why: 'It is outside of the workspace.',
      always: alwaysForRead(['read', 'glob', 'grep'], parentOf(outside.realPath)),
    })
  }

  function decideEdit(whole: Case, places: readonly Place[]): PreExecuteDecision {
    const { exec, mode, folders } = whole
    judged.set(exec.token, places)
    const hard = closed(places) ?? ruled(whole, places)
    if (hard !== null) return hard
    if (mode === 'danger-full-access') return allowedByMode
    if (mode === 'read-only') return deny(modeOrPlan(whole), `${whole.readOnlyWords}${whole.wayOn}`, whole.wayOn === '' ? undefined : 'FS_SANDBOX_DENIED')
    if (whole.wall !== null) return decideWalledEdit(whole, places)
    const outside = places.find(({ realPath }) => !isInside(realPath, folders) && !isTemporary(realPath))
    const own = exec.agent === undefined ? undefined : created.get(exec.agent.id)
    const rules = rulesFor(whole, places)
    if (rules !== null) return allowedBy(rules)
    if (places.every(({ realPath }) => own?.has(realPath) === true)) return allowed('person', 'Bosun made this file in this session, with your leave.')
    const [first] = places
    const effect = `${exec.name === 'write' ? 'Write' : 'Change'} \`${first?.spelling ?? ''}\``
    if (outside !== undefined) return ask(whole, { effect, why: 'It is outside of the workspace.' })
    const folder = folders.find((path) => first !== undefined && isWithin(first.realPath, path, style))
    const isTogether = folder !== undefined && places.every(({ realPath }) => isWithin(realPath, folder, style))
    const always = isTogether ? alwaysForEdit(['write', 'edit'], commonPlace(places.map(({ realPath }) => relativeTo(realPath, folder, style))), folder) : []
    return ask(whole, { effect, why: `No rule of yours allows changing ${places.length > 1 ? 'these files' : 'this file'}.`, always })
  }

  /** Its own folder is free: the person sees what comes of it before it reaches their files. What tells git where the repository is stays. */
  function decideWalledEdit(whole: Case, places: readonly Place[]): PreExecuteDecision {
    const beyond = places.find((place) => !isWithinWall(place.realPath, whole) || place.realPath.endsWith('/.git'))
    if (beyond !== undefined) return deny('mode', wallWords(beyond.spelling), 'FS_SANDBOX_DENIED')
    return allowed('effect', 'It works in a worktree of its own; you choose what of it reaches your files.')
  }

  /**
   * Which files it changes is worked out first, so that all of them are judged, and shown. Rules that speak of `edit` hold for it:
   * it is one more way to edit.
   */
  async function decidePlanned(whole: Case, plan: NonNullable<EditEffect['plan']>): Promise<PreExecuteDecision> {
    const { exec, mode } = whole
    if (mode === 'read-only') return deny(modeOrPlan(whole), whole.readOnlyWords)
    const { words, changes } = await plan(exec)
    const places = await placesOf(changes.map(({ target }) => target), whole.cwd, exec.signal)
    const shownPlaces = places.map((place, index) => ({ ...place, spelling: changes[index]?.path ?? place.spelling }))
    const own = closed(shownPlaces) ?? ruled(whole, shownPlaces)
    const decision = own ?? decideEdit({ ...whole, exec: { ...exec, name: 'edit' } }, shownPlaces)
    if (decision.kind !== 'ask') return decision
    const details = { why: '', ...decision.details, effect: words, changes }
    return { ...decision, details }
  }

  /** Nothing changes here, so the mode does not forbid it; a host is asked for, because what is sent to it leaves this machine. */
  function decideNetwork(whole: Case, { hosts, sent, words, settled, isOwnMachine = false }: NetworkEffect): PreExecuteDecision {
    const { exec, mode, rules, folders } = whole
    const leaking = sent.find((text) => hasSecret(text))
    if (leaking !== undefined) return deny('secret', `What ${exec.name} would send holds something that looks like a key or token, and that may not leave this machine. Leave it out.`)
    const fits = (rule: Rule) => isForTool(rule, exec.name) && rule.command === null && rule.path === null
    const concerns = (rule: Rule) => fits(rule) && (rule.host === null || hosts.some((host) => matchesHost(rule.host ?? '', host)))
    const hard = strict(whole, rules.filter(concerns), hosts.join(', '))
    if (hard !== null) return hard
    if (settled !== null) return allowed('effect', settled)
    if (mode === 'danger-full-access') return allowedByMode
    const isAllowing = (rule: Rule, host: string) => (rule.host === null || rule.host === '*' ? !isOwnMachine : matchesHost(rule.host, host))
    const allowing = hosts.map((host) => rules.find((rule) => fits(rule) && rule.decision === 'allow' && isAllowing(rule, host)))
    const used = allowing.filter((rule) => rule !== undefined)
    if (hosts.length > 0 && used.length === hosts.length) return allowedBy(used)
    const from = hosts.map((host) => `\`${host}\``).join(' and ')
    const why = isOwnMachine ? `${from} is this machine, so only a rule that names it opens it.` : `No rule of yours allows reading from ${from}.`
    return ask(whole, { effect: words, why, always: alwaysForPages(exec.name, hosts, folders[0] ?? null) })
  }

  /** What its calls do is judged call by call; the question is whether this script is to run at all. */
  async function decideScript(whole: Case, effect: ScriptEffect): Promise<PreExecuteDecision> {
    const { exec, mode, folders } = whole
    const general = ruled(whole, [])
    if (general?.kind === 'deny') return general
    const { words, why, covers, isKnown, settled = 'What it does is asked for call by call, and this script was let run before.', changes, isAlwaysAsked, subject } = effect.plan === undefined ? effect : await effect.plan(exec)
    const isAbout = (rule: Rule) => isForCall(rule, whole) || rule.tool === subject?.tool
    const about = whole.rules.filter((rule) => subject !== undefined && isAbout(rule) && rule.path === null && rule.host === null && rule.command?.words.length === 1 && rule.command.words[0] === subject.word)
    const own = strict(whole, about, subject?.word ?? exec.name)
    const hard = own?.kind === 'deny' ? own : (general ?? own)
    // A rule that wants to be asked hides nothing of what is asked about.
    if (hard?.kind === 'ask' && changes !== undefined) return ask(whole, { effect: words, why: `${hard.details?.why ?? ''} ${why}`.trim(), mustAsk: true, changes })
    if (hard !== null) return hard
    if (mode === 'danger-full-access' && isAlwaysAsked !== true) return allowedByMode
    if (isKnown) return allowed('effect', settled)
    // A rule for every tool, or for every such call, was given before there was anything to read: it lets nothing run that is always asked for.
    const rules = (isAlwaysAsked === true ? null : rulesFor(whole, [])) ?? (about.length > 0 ? about : null)
    if (rules !== null) return allowedBy(rules)
    const always = subject === undefined ? alwaysForTool(exec.name, folders[0] ?? null) : alwaysForSubject(subject.tool ?? exec.name, subject)
    // Full access goes with the policy to ask nobody, which would make a silent no of it.
    return ask(whole, { effect: words, why, ...(covers !== undefined && { covers }), always, ...(changes && { changes }), ...(mode === 'danger-full-access' && { mustAsk: true }) })
  }

  /** `places`: whatever in the arguments may be a path. */
  function decideUnknown(whole: Case, effect: UnknownEffect, places: readonly Place[]): PreExecuteDecision {
    const { from } = effect
    const isSaidToRead = effect.isSaidToRead === true
    const { exec, mode, folders } = whole
    const hard = closed(places) ?? ruled(whole, places, exec.name)
    if (hard !== null) return hard
    if (whole.wall !== null && exec.name.startsWith('terminal_')) return deny('mode', terminalWallWords, 'FS_SANDBOX_DENIED')
    if (mode === 'danger-full-access') return allowedByMode
    const rules = whole.isCapped && !isSaidToRead ? null : rulesFor(whole, [])
    if (rules !== null) return allowedBy(rules)
    const details = {
      effect: `Use the tool \`${exec.name}\`${from === undefined ? '' : ` from ${from}`}`,
      why: isSaidToRead ? `${from ?? 'Its author'} says that it changes nothing, which Bosun cannot know.` : 'Bosun does not know what it does.',
    }
    // What changes nothing cannot be told from what does, so "always" is not offered where nothing may change, unless somebody gives their word.
    return ask(whole, mode === 'read-only' && !isSaidToRead ? details : { ...details, always: alwaysForTool(exec.name, folders[0] ?? null) })
  }

  async function decideShell(whole: Case, effect: ToolEffect & { readonly kind: 'shell' }): Promise<PreExecuteDecision> {
    const { exec, cwd, mode } = whole
    const workdir = effect.workdir === null ? cwd : absolutePath(effect.workdir, cwd, style)
    const script = effect.shell === 'bash' ? await scriptOf(effect.command) : null
    const named = script === null ? effect.command.split(/[^\w.~/\\@+:-]+/) : namedFiles(script)
    for (const text of named) {
      const pattern = secretOf(absolutePath(text, workdir, style))
      if (pattern !== null) return deny('secret', closedWords(text, pattern))
    }
    const linked = await secretBehind(named, workdir, exec.signal)
    if (linked !== null) return linked
    const broad = script === null ? null : patternForSecret(script, settings.get(specs.permissionsSensitivePaths))
    if (broad !== null) return deny('secret', `${broad} may stand for what looks like a secret and is closed to every tool. Name the files that you mean.`)
    const commands = script?.commands ?? []
    // Links are followed only where a rule on paths may want to know.
    const isRuledByPath = whole.rules.some((rule) => rule.path !== null && rule.decision !== 'allow')
    const placed = async (names: readonly string[]) => (isRuledByPath ? placesOf(names, workdir, exec.signal) : [])
    const written = (script?.redirects ?? []).flatMap(({ direction, target }) => (direction === 'write' ? [target.guess] : []))
    const refused = ruledShell(whole, effect.command, everyCommand(script), { named: await placed(named), written: await placed(written), hosts: hostsOfAll(script) })
    if (refused !== null) return refused

    const facts = script === null ? null : judgeScript(script)
    const walled = await beyondWall(whole, facts, workdir)
    if (walled !== null) return walled
    const doubt = facts === null ? 'its syntax cannot be judged' : await doubtAbout(facts, whole, workdir)
    const action = `Run \`${effect.command}\`${workdir === cwd ? '' : ` in ${effect.workdir}`}`
    if (facts !== null && facts.destroys !== null) {
      if (mode === 'read-only') return deny(modeOrPlan(whole), `${whole.readOnlyWords}${whole.wayOn}`)
      const words = doubt === null ? ruleForWords(whole, effect.command, commands) : null
      if (words !== null) return allowedBy([words])
      return ask(whole, { effect: `${action}: ${facts.destroys}`, why: 'Work that is not committed may be lost.', mustAsk: true })
    }
    if (facts === null && effect.shell === 'bash' && mode !== 'read-only' && forbidsCommands(whole) && ruleForLine(whole, effect.command) === null) {
      return ask(whole, { effect: action, why: 'Its syntax cannot be judged, so it cannot be held against the rules of yours that forbid commands.', mustAsk: true })
    }
    if (mode === 'danger-full-access') return allowedByMode
    if (facts !== null && doubt === null && facts.acting.length === 0) return allowed('effect', 'It only reads.')
    if (book.isFreeWithin(exec.agent?.session) && script !== null && isLiteral(script) && (await staysWithin(whole, facts, named, workdir))) return allowed('mode', 'Full access asks for nothing, and it works in a worktree of its own.')
    if (mode === 'read-only') return deny(modeOrPlan(whole), `${whole.readOnlyWords} This command is not known to only read${doubt === null ? '' : `: ${doubt}`}.${whole.wayOn}`)
    return decideActing(whole, { effect, workdir, action, script, facts, doubt })
  }

  /** What says itself that it would change something outside of the wall is refused, whoever would allow it; nothing holds what is typed in a terminal. */
  async function beyondWall(whole: Case, facts: ScriptFacts | null, workdir: string): Promise<PreExecuteDecision | null> {
    const { wall, effect, exec } = whole
    if (wall === null || whole.mode === 'read-only') return null
    const isActing = facts === null || facts.unclear !== null || facts.destroys !== null || facts.acting.length > 0 || facts.writes.length > 0
    if (!isActing) return null
    if (effect.kind !== 'shell' || effect.isConfined !== true) return deny('mode', terminalWallWords, 'FS_SANDBOX_DENIED')
    if (facts?.sharedGit != null) return deny('mode', sharedGitWords(facts.sharedGit), 'FS_SANDBOX_DENIED')
    const from = [workdir]
    for (const { path, isPattern } of facts?.folders ?? []) if (path !== null && !isPattern) from.push(...from.map((folder) => absolutePath(path, folder, style)))
    for (const folder of from) if (!isWithinWall((await realPath(folder, folder, exec.signal)) ?? folder, whole)) return deny('mode', wallWords(folder), 'FS_SANDBOX_DENIED')
    for (const { path, isPattern, source } of facts?.writes ?? []) {
      const places = path === null || isPattern ? [] : await placesOf([path], workdir, exec.signal)
      if (places.some((place) => !isWithinWall(place.realPath, whole))) return deny('mode', wallWords(source), 'FS_SANDBOX_DENIED')
    }
    return null
  }

  /** As far as its words say; whatever they do not say is held by the sandbox, where there is one. */
  async function staysWithin(whole: Case, facts: ScriptFacts | null, named: readonly string[], workdir: string): Promise<boolean> {
    if (facts === null || facts.unclear !== null || facts.folders.some(({ path, isPattern }) => path === null || isPattern) || facts.writes.some(({ path, isPattern }) => path === null || isPattern)) return false
    const places = await placesOf([...new Set(named)].filter((text) => text.length <= MAX_PATH).slice(0, MAX_FOLLOWED), workdir, whole.exec.signal)
    return places.every(({ realPath }) => isWithin(realPath, whole.wall ?? '', style) || !isInside(realPath, whole.folders))
  }

  /** A link is no way around the hard rule. */
  async function secretBehind(named: readonly string[], workdir: string, signal: AbortSignal): Promise<PreExecuteDecision | null> {
    const paths = [...new Set(named)].filter((text) => !text.startsWith('-') && text.length <= MAX_PATH).slice(0, MAX_FOLLOWED)
    return closed(await placesOf(paths, workdir, signal))
  }

  async function decideActing(
    whole: Case,
    { effect, workdir, action, script, facts, doubt }: { readonly effect: ToolEffect & { readonly kind: 'shell' }; readonly workdir: string; readonly action: string; readonly script: ShellScript | null; readonly facts: ScriptFacts | null; readonly doubt: string | null },
  ): Promise<PreExecuteDecision> {
    const { exec, folders } = whole
    const folder = folders[0] ?? null
    const line = ruleForLine(whole, effect.command)
    if (line !== null) return allowedBy([line])
    if (effect.shell === 'pwsh') return ask(whole, { effect: action, why: 'Bosun does not take PowerShell apart, so each command that no rule names asks.', always: alwaysForText(exec.name, effect.command, folder) })
    if (facts === null || script === null) return ask(whole, { effect: action, why: 'Its syntax cannot be judged part by part.' })
    const asLine = isLiteral(script) ? alwaysForLine(exec.name, effect.command, folder) : []
    if (doubt !== null) return ask(whole, { effect: action, why: sentence(doubt), always: facts.unclear === null ? asLine : [] })
    const open: ShellCommand[] = []
    const used: Rule[] = []
    let beyond: string | null = null
    for (const acting of facts.acting) {
      const reason = await whyOpen(acting, whole, { script, facts, workdir })
      if (typeof reason !== 'string') {
        used.push(...reason)
        continue
      }
      open.push(acting)
      beyond ??= reason === '' ? null : reason
    }
    if (open.length === 0) return allowedBy(used)
    const names = [...new Set(open.map(({ words: [program] }) => `\`${program?.source ?? ''}\``))]
    const why = beyond === null ? `No rule of yours allows ${names.join(' and ')}.` : sentence(beyond)
    const always = [...alwaysForHosts(exec.name, open, folder), ...(open.some(isFedByInput) || beyond !== null ? [] : alwaysForCommands(exec.name, open, folder))]
    return ask(whole, { effect: action, why, always: always.length > 0 ? always : asLine })
  }

  /** The rules that allow it, else why the one that fits was not meant for it; empty when none fits. */
  async function whyOpen(command: ShellCommand, whole: Case, { script, facts, workdir }: { readonly script: ShellScript; readonly facts: ScriptFacts; readonly workdir: string }): Promise<readonly Rule[] | string> {
    const { exec, rules } = whole
    const allowing = rules.filter((rule) => rule.decision === 'allow' && isForTool(rule, exec.name) && rule.path === null)
    const hosts = hostsOf(command)
    const isHostAllowed = (host: string) => allowing.some((rule) => rule.host !== null && matchesHost(rule.host, host))
    if (isPlainFetch(command) && hosts.length > 0 && hosts.every(isHostAllowed)) return allowing.filter(({ host }) => host !== null && hosts.some((name) => matchesHost(host, name)))
    const isInside = async (name: string) => {
      const from = [workdir, ...facts.folders.map(({ path }) => absolutePath(path ?? '.', workdir, style))]
      const places = await Promise.all(from.map((folder) => realPath(absolutePath(name, folder, style), folder, exec.signal)))
      return places.every((path) => path !== null && isInsideFolders(path, whole))
    }
    let reason = ''
    for (const rule of allowing) {
      if (rule.host !== null) continue
      if (rule.command === null) return [rule]
      const fits = matchesCommand(rule.command, command) || (command.written !== undefined && !rule.command.isPrefix && matchesCommand(rule.command, command.written))
      if (!fits) continue
      const beyond = await beyondRule(rule.command, command, { script, isInside, isHostAllowed })
      if (beyond === null) return [rule]
      reason = beyond
    }
    return reason
  }

  const forbidsCommands = ({ exec, rules }: Case) => rules.some((rule) => rule.decision !== 'allow' && isForTool(rule, exec.name) && (rule.command !== null || rule.host !== null))

  /** The rule by which the person allowed this very line, whatever it does. */
  const ruleForLine = ({ exec, rules }: Case, command: string) =>
    rules.find((rule) => rule.decision === 'allow' && isForTool(rule, exec.name) && rule.command?.isPrefix === false && rule.command.words.length === 1 && rule.command.words[0] === command) ?? null

  async function scriptOf(command: string): Promise<ShellScript | null> {
    try {
      return await openScript(command, (text) => shellSyntax.parseBash(text), machine.homeFolder)
    } catch (error) {
      logger.warn('The grammar of the shell could not be loaded; every command asks.', { error: String(error) })
      return null
    }
  }

  /** Why the files that a script reads or writes keep it from running unasked, or null. */
  async function doubtAbout(facts: ScriptFacts, whole: Case, workdir: string): Promise<string | null> {
    if (facts.unclear !== null) return facts.unclear
    const folders = [workdir]
    for (const folder of facts.folders) {
      if (folder.path === null || folder.isPattern) return `only running tells where \`cd ${folder.source}\` leads`
      folders.push(...folders.map((from) => absolutePath(folder.path ?? '', from, style)))
    }
    // What only reads may do so in the folder for temporary files; whatever runs there was written there unasked.
    const isHome = facts.acting.length === 0 ? isRealInside : isRealInWorkspace
    for (const folder of folders) if (!(await isHome(folder, whole))) return `it works in ${folder}, outside of the workspace`
    const found = facts.startsGit ? await foundRepository(folders, whole) : null
    if (found !== null) return `git would find a repository in ${found}, whose own settings may start programs`
    for (const word of facts.reads) {
      const doubt = await doubtAboutRead(word, folders, whole)
      if (doubt !== null) return doubt
    }
    const glob = facts.globs.find((pattern) => (filledBraces(pattern) ?? ['*']).some((form) => isSecretPattern(form, false)))
    if (glob !== undefined) return `\`${glob}\` may stand for a secret-looking file`
    for (const word of facts.writes) {
      if (word.path === null || word.isPattern) return `only running tells where it writes (\`${word.source}\`)`
      const places = await placesOf([word.path], workdir, whole.exec.signal)
      const isFree = whole.mode !== 'read-only' && places.every(({ realPath }) => isTemporary(realPath) && !isInside(realPath, whole.folders)) && folders.length === 1
      const isRuled = whole.mode !== 'read-only' && rulesFor({ ...whole, exec: { ...whole.exec, name: 'write' } }, places) !== null
      if (!isFree && !isRuled) return `it writes to \`${word.source}\``
    }
    return null
  }

  /** A folder that is a repository itself, with its settings among the files of the project, where anybody may have put them. */
  async function foundRepository(folders: readonly string[], whole: Case): Promise<string | null> {
    const isThere = async (path: string) => (await existing(path, whole.exec.signal)) !== null
    for (const start of folders) {
      for (let folder = (await realPath(start, start, whole.exec.signal)) ?? start; isInsideFolders(folder, whole); folder = folder.slice(0, folder.lastIndexOf('/'))) {
        if ((await isThere(`${folder}/HEAD`)) && (await isThere(`${folder}/objects`))) return folder
        if ((await isThere(`${folder}/.git`)) || !folder.includes('/')) break
      }
    }
    return null
  }

  async function existing(path: string, signal: AbortSignal): Promise<string | null> {
    try {
      const target = await files.resolve(path, path, signal)
      return target.exists ? target.path : null
    } catch {
      // What cannot be looked at is no repository to git either.
      return null
    }
  }

  async function doubtAboutRead(word: PathWord, folders: readonly string[], whole: Case): Promise<string | null> {
    if (word.path === null) return `only running tells what \`${word.source}\` is`
    const paths = word.isPattern ? filledBraces(word.path) : [word.path]
    if (paths === null) return `\`${word.source}\` stands for too many files`
    for (const path of paths) {
      const steps = path.split('/')
      const wild = word.isPattern ? steps.findIndex((step) => /[*?[]/.test(step)) : -1
      // Where a link or an unknown folder stands before them, two dots may lead anywhere.
      if (wild !== -1 && steps.includes('..', wild)) return `only running tells what \`${word.source}\` is`
      const start = wild === -1 ? path : steps.slice(0, wild).join('/') || (path.startsWith('/') ? '/' : '.')
      for (const folder of folders) {
        const absolute = absolutePath(start, folder, style)
        const real = (await realPath(absolute, folder, whole.exec.signal)) ?? absolute
        if (wild !== -1 && word.showsText && isSecretPattern(`${real}/${steps.slice(wild).join('/')}`, true)) return `\`${word.source}\` may stand for a secret-looking file`
        if (!isReadable(real, whole)) return `it reads \`${word.source}\`, outside of the workspace`
        if (secretOf(real) !== null) return `\`${word.source}\` leads to a secret-looking file`
      }
    }
    return null
  }

  const isSecretPattern = (pattern: string, isShell: boolean) => mayMatchSecret(pattern, settings.get(specs.permissionsSensitivePaths), { isShell, ignoresCase: style.ignoresCase })

  const isInsideFolders = (path: string, { folders }: Case) => isInside(path, folders)
  const isInside = (path: string, folders: readonly string[]) => folders.some((folder) => isWithin(path, folder, style))
  const isTemporary = (path: string) => [machine.tempFolder, ...(style.isWindows ? [] : ['/tmp', '/private/tmp'])].some((folder) => isWithin(path, folder, style))
  /** Temporary files are nobody's, unless the workspace itself lies among them. */
  const isWithinWall = (path: string, { wall, folders }: Case) => wall === null || isWithin(path, wall, style) || path === '/dev/null' || (isTemporary(path) && !isInside(path, folders))
  const isReadable = (path: string, { folders, exec: { agent } }: Case) =>
    isInside(path, folders) || isTemporary(path) || (agent !== undefined && isInside(path, parts.readableFolders(agent.id)))
  const isRealInWorkspace = async (path: string, whole: Case) => isInsideFolders((await realPath(path, path, whole.exec.signal)) ?? path, whole)
  const isRealInside = async (path: string, whole: Case) => isReadable((await realPath(path, path, whole.exec.signal)) ?? path, whole)

  const holdsIn = ({ folder }: Rule, folders: readonly string[]) => folder === null || folders.some((path) => isWithin(path, folder, style))

  /** A rule that denies or wants to be asked. A rule on the paths of a tool holds for each of them. */
  function ruled(whole: Case, places: readonly Place[], subject = places[0]?.spelling ?? whole.exec.name): PreExecuteDecision | null {
    const { rules, folders } = whole
    const fits = (rule: Rule) => isForCall(rule, whole) && rule.command === null && rule.host === null && (rule.path === null || places.some((place) => concernsPath(rule.path ?? '', place, folders)))
    return strict(whole, rules.filter(fits), subject)
  }

  /**
   * As above; a rule on paths holds for every file that the command names, one on hosts for every host. Of the rules for other tools
   * those for reading hold for what it names, and those for changing files for what it redirects to: a shell is no way around them.
   */
  function ruledShell(whole: Case, command: string, commands: readonly ShellCommand[], { named, written, hosts }: { readonly named: readonly Place[]; readonly written: readonly Place[]; readonly hosts: readonly string[] }): PreExecuteDecision | null {
    const { exec, rules, folders } = whole
    const fits = ({ command: words, path, host, ...rule }: Rule) => {
      const others = rule.tool === 'read' ? named : rule.tool === 'edit' || rule.tool === 'write' ? written : []
      if (path !== null && others.some((place) => concernsPath(path, place, folders))) return true
      if (!isForTool(rule, exec.name)) return false
      if (path !== null) return named.some((place) => concernsPath(path, place, folders))
      if (host !== null) return hosts.some((name) => matchesHost(host, name))
      return words === null || commands.some((one) => matchesCommand(words, one)) || (words.words.length === 1 && words.words[0] === command)
    }
    return strict(whole, rules.filter(fits), command)
  }

  function strict(whole: Case, rules: readonly Rule[], subject: string): PreExecuteDecision | null {
    const denying = rules.find(({ decision }) => decision === 'deny')
    if (denying !== undefined) {
      const reason = `A rule of the person denies this (${shown(denying)}). Do not try it another way; ask what they want instead.`
      return { kind: 'deny', reason, grounds: groundsOf([denying]) }
    }
    const asking = rules.find(({ decision }) => decision === 'ask')
    if (asking === undefined) return null
    const isReading = ['read', 'none', 'network', 'script'].includes(whole.effect.kind)
    if (whole.mode === 'read-only' && !isReading) return null
    return ask(whole, { effect: whole.effect.kind === 'shell' ? `Run \`${subject}\`` : `Use ${whole.exec.name} on \`${subject}\``, why: `A rule wants to be asked (${shown(asking)}).`, mustAsk: true })
  }

  /** Rules that allow a tool on each of its places, or null. */
  function rulesFor(whole: Case, places: readonly Place[]): readonly Rule[] | null {
    const { rules, folders } = whole
    const allowing = rules.filter((rule) => rule.decision === 'allow' && rule.command === null && rule.host === null && isForCall(rule, whole))
    // A rule without a path speaks of the workspace; what is outside has to be named.
    const found = places.length === 0 ? [allowing.find(({ path }) => path === null)] : places.map((place) => allowing.find(({ path }) => (path === null ? isInside(place.realPath, folders) : fitsPath(path, place, folders))))
    return found.some((rule) => rule === undefined) ? null : found.filter((rule) => rule !== undefined)
  }

  /** The rule in which the very words of the whole command stand; this alone covers what destroys. */
  function ruleForWords(whole: Case, command: string, commands: readonly ShellCommand[]): Rule | null {
    const { exec, rules } = whole
    const [only] = commands
    const line = ruleForLine(whole, command)
    if (commands.length !== 1 || only === undefined) return line
    return rules.find((rule) => rule.decision === 'allow' && rule.command?.isPrefix === false && isForTool(rule, exec.name) && matchesCommand(rule.command, only)) ?? null
  }

  /** For a rule that allows: both names of a file must fit, so that a link out of an allowed folder opens nothing. */
  function fitsPath(pattern: string, { path, realPath }: Place, folders: readonly string[]): boolean {
    return fitsName(pattern, realPath, folders) && (!isAbsolutePattern(pattern) || fitsName(pattern, path, folders))
  }

  /** For a rule that denies or wants to be asked: one name is enough, so that a link is no way around it. */
  function concernsPath(pattern: string, { path, realPath }: Place, folders: readonly string[]): boolean {
    return fitsName(pattern, path, folders) || fitsName(pattern, realPath, folders)
  }

  const fitsName = (pattern: string, name: string, folders: readonly string[]) => fitsRulePath(pattern, name, folders, style)

  function ask({ exec }: Case, details: ApprovalDetails): PreExecuteDecision {
    return { kind: 'ask', reason: `${exec.name} needs approval. ${details.why}`, details }
  }

  return {
    decide,
    noteCreated(exec) {
      const places = judged.get(exec.token)
      if (places === undefined || exec.agent === undefined) return
      const own = created.get(exec.agent.id) ?? new Set()
      created.set(exec.agent.id, own)
      for (const { realPath } of places) own.add(realPath)
    },
    forget: (agentId) => void created.delete(agentId),
  }
}

function plainAction({ name }: Pick<Execution, 'name'>, effect: ToolEffect): string {
  if (effect.kind === 'shell') return `Run \`${effect.command}\`${effect.workdir === null ? '' : ` in ${effect.workdir}`}`
  return effect.kind === 'edit' ? `${name === 'write' ? 'Write' : 'Change'} \`${effect.paths[0] ?? ''}\`` : `Use the tool \`${name}\``
}

/** UTF-16 units of the longest text that may be a path. */
const MAX_PATH = 4_096
/** The path itself, or something in the nearest folder that holds all of them. */
function commonPlace(paths: readonly string[]): string {
  const [first = '', ...others] = paths
  if (others.length === 0) return first
  const steps = first.split('/').slice(0, -1)
  const isShared = (length: number) => others.every((path) => path.startsWith(`${steps.slice(0, length).join('/')}/`))
  while (steps.length > 0 && !isShared(steps.length)) steps.pop()
  return [...steps, '*'].join('/')
}

/** Paths in one call of a tool nobody knows whose links are followed. */
const MAX_FOLLOWED = 100

/** Texts in the arguments of a tool nobody knows, names of fields too, that may be paths: one line, and words only with a separator. */
function pathsIn(args: Json): readonly string[] {
  const found = new Set<string>()
  const pending: Json[] = [args]
  const take = (text: string) => {
    if (text !== '' && text.length <= MAX_PATH && !/[\r\n\0]/.test(text) && (!/\s/.test(text) || /[/\\]/.test(text))) found.add(text)
  }
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') take(next)
    else if (isJsonObject(next)) {
      for (const [key, value] of Object.entries(next)) {
        take(key)
        pending.push(value)
      }
    } else if (Array.isArray(next)) for (const slot of next as readonly Json[]) pending.push(slot)
  }
  return [...found]
}

/** `a{b,c}` as the shell fills it in; null when that would be too much to look at. */
function filledBraces(pattern: string): readonly string[] | null {
  const filled = pattern.length > 500 ? [] : braceExpand(pattern, { braceExpandMax: 101 })
  return filled.length === 0 || filled.length > 100 ? null : filled
}

/** Written plainly, or as addresses spell it. */
const hasSecret = (text: string): boolean => [text, text.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))].some((one) => redactSecrets(one) !== one)

/** Every tool that reads is one more way to read, and every one that edits one more way to edit: a rule of the plain one holds for it. */
function oneMore(whole: Case, plain: 'read' | 'edit'): Case {
  const isOwn = (plain === 'read' ? ['read', 'glob', 'grep'] : ['edit', 'write']).includes(whole.exec.name)
  return isOwn ? whole : { ...whole, also: plain }
}

const isForCall = (rule: Rule, { exec, also }: Case) => isForTool(rule, exec.name) || rule.tool === also

const isForTool = ({ tool }: Pick<Rule, 'tool'>, name: string) => tool === name || tool === '*'

/** Each command under each of its names: opened, as written, and what it starts elsewhere. */
function everyCommand(script: ShellScript | null): readonly ShellCommand[] {
  const named = (command: ShellCommand): readonly ShellCommand[] => [bareProgram(command), ...(command.written === undefined ? [] : named(command.written))]
  return script === null ? [] : [...script.commands, ...script.hidden].flatMap(named)
}

/** `/usr/bin/curl` is curl to a rule that forbids. */
function bareProgram(command: ShellCommand): ShellCommand {
  const [program, ...rest] = command.words
  const text = program?.text?.split('/').at(-1)
  return program === undefined || text === undefined || text === program.text ? command : { ...command, words: [{ ...program, text }, ...rest] }
}

const hostsOfAll = (script: ShellScript | null): readonly string[] =>
  script === null ? [] : [...everyCommand(script).flatMap(hostsOf), ...[...script.redirects.map(({ target }) => target.guess), ...script.values.map(({ guess }) => guess)].flatMap(hostsIn)]

/** Each time it runs it does the same, as far as its words go. */
const isLiteral = ({ commands, hidden, redirects, used }: ShellScript) =>
  used.length === 0 && [...commands, ...hidden].every(({ words }) => words.every(({ text }) => text !== null)) && redirects.every(({ target }) => target.text !== null)

function shown({ tool, command, path, host, decision }: Rule): string {
  const what = command !== null ? commandRuleText(command) : (path ?? host ?? '')
  return [decision, tool, what].filter((text) => text !== '').join(' ')
}

const terminalWallWords = 'Nothing here holds what this would start to the worktree that is yours alone, so it is refused. Run commands with bash.'

const closedWords = (spelling: string, pattern: string) =>
  `${spelling} looks like a secret and is closed to every tool (${pattern} in bosun.permissions.sensitivePaths). Ask the person for what you need from it.`

const readOnlyWords = (tool: string) => `The session is read-only, so ${tool} may change nothing. The person can choose another mode under the message box.`

const parentOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf('/'), 1))

const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
