import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { utf8Length } from '../../base/text.ts'
import type { PlanScript } from '../../core/policy/tool-effects.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Execution } from '../../core/tools/definition.ts'
import type { BookParts } from './book-parts.ts'
import { MAX_CODE_BYTES, MAX_NAME_CHARS, MAX_PACKAGES, MAX_PLUGINS, MAX_PURPOSE_CHARS } from './caps.ts'
import { codeChanges, codeQuestion, halvesOf, type AskedPackage } from './code-question.ts'
import { DynamicPluginError } from './error.ts'
import type {} from './events.ts'
import type { Draft, Held, Package, SessionPlugins } from './held.ts'
import type { KeptFiles } from './kept-files.ts'
import { packageSourceFrom } from './package-source.ts'
import type { Records } from './records.ts'
import type { DefinedPackage, PackageSource } from './service.ts'

/** See `createDefining`. */
export type Defining = ReturnType<typeof createDefining>

/** Packages come to be: checked, asked about, kept in files and told in the log. */
export function createDefining({ codeRuntime }: Pick<BookParts, 'codeRuntime'>, { records, files }: { readonly records: Records; readonly files: KeptFiles }) {
  const { pluginChanges, folderOf, mustBeOn, sessionOf, heldOf, log } = records
  /** By the arguments of the call, which policy, the question and the body see as the very same object. */
  const drafts = new WeakMap<object, Draft>()

  async function checkSource({ name, purpose, code }: Pick<PackageSource, 'name' | 'purpose' | 'code'>): Promise<void> {
    const wrong = (words: string) => new DynamicPluginError('INVALID_PLUGIN', words)
    if (name.trim() === '' || name.length > MAX_NAME_CHARS) throw wrong(`The name of a package has 1 to ${MAX_NAME_CHARS} characters.`)
    if (purpose.length > MAX_PURPOSE_CHARS) throw wrong(`The purpose of a package has at most ${MAX_PURPOSE_CHARS} characters.`)
    const halves = halvesOf(code)
    if (halves.length === 0) throw wrong('Give code.host, code.client or both.')
    for (const half of halves) {
      const text = code[half] ?? ''
      const bytes = utf8Length(text)
      if (bytes > MAX_CODE_BYTES) throw new DynamicPluginError('PLUGIN_CAP', `The ${half} half has ${bytes} bytes, and one may have ${MAX_CODE_BYTES}.`)
      const problem = await codeRuntime.check(text)
      if (problem !== undefined) throw new DynamicPluginError('PLUGIN_SYNTAX', `The ${half} half does not parse: ${problem}. It is the body of a function in plain JavaScript.`)
    }
  }

  /** Errors: `DynamicPluginError`, for what cannot be defined. */
  async function checked(agent: Agent, source: PackageSource): Promise<SessionPlugins> {
    mustBeOn(agent)
    const session = sessionOf(agent)
    refuseToAdd(session, source.plugin)
    await checkSource(source)
    mustBeOn(agent)
    refuseToAdd(session, source.plugin)
    return session
  }

  /** Given once, whatever becomes of the plugin meanwhile: the person lets a package run by its ids. */
  function newIds(session: SessionPlugins, plugin: PackageSource['plugin']): { readonly pluginId: string; readonly packageId: string } {
    const pluginId = plugin.kind === 'new' ? `${plugin.idPrefix}-${++session.lastPlugin}` : plugin.pluginId
    const number = (session.lastPackages.get(pluginId) ?? 0) + 1
    session.lastPackages.set(pluginId, number)
    return { pluginId, packageId: `pkg-${number}` }
  }

  /** What is wrong with the code is the failure of the call, so nobody is asked about what could not run. */
  const planDefine: PlanScript = async ({ agent, arguments: args }) => {
    const known = isJsonObject(args) ? drafts.get(args) : undefined
    if (known !== undefined) return known.question
    const source = packageSourceFrom(args)
    if (agent === undefined || source === undefined) throw new DynamicPluginError('INVALID_PLUGIN', 'These arguments say of no session what is to be defined in it.')
    const session = await checked(agent, source)
    const ids = newIds(session, source.plugin)
    const { name, purpose, code } = source
    const base = session.plugins.get(ids.pluginId)?.lastApproved
    const asked: AskedPackage = { ...ids, name, purpose, code, folder: folderOf(agent.id, ids.pluginId, ids.packageId) }
    const changes = codeChanges(asked, base)
    const question = codeQuestion(asked, { words: `Define the plugin \`${ids.pluginId}\` (${ids.packageId}) and let it run`, base, changes, isKnown: false })
    drafts.set(args as JsonObject, { agent, source, ...ids, base, changes, question, isApproved: false })
    return question
  }

  function draftOf(agent: Agent, args: Json | undefined): Draft | undefined {
    const draft = args !== undefined && isJsonObject(args) ? drafts.get(args) : undefined
    return draft?.agent === agent ? draft : undefined
  }

  async function define(agent: Agent, source: PackageSource, { call, restoredFrom }: { readonly call?: Pick<Execution, 'arguments'>; readonly restoredFrom?: string } = {}): Promise<DefinedPackage> {
    const draft = call === undefined ? undefined : draftOf(agent, call.arguments)
    const { plugin, name, purpose, code } = draft?.source ?? source
    const session = draft === undefined ? await checked(agent, source) : sessionOf(agent)
    const { pluginId, packageId } = draft ?? newIds(session, plugin)
    const folder = folderOf(agent.id, pluginId, packageId)
    mustBeOn(agent)
    refuseToAdd(session, plugin)
    await files.keep(folder, { pluginId, packageId, name, purpose, code })
    mustBeOn(agent)
    refuseToAdd(session, plugin)
    // A call defines one package.
    if (call !== undefined && isJsonObject(call.arguments)) drafts.delete(call.arguments)
    const held: Held = session.plugins.get(pluginId) ?? { pluginId, packages: new Map() }
    const isApproved = draft?.isApproved === true
    const pack: Package = { packageId, name, purpose, code: Object.freeze({ ...code }), isApproved, isFailureTold: false }
    held.packages.set(packageId, pack)
    if (isApproved) held.lastApproved = pack
    session.plugins.set(pluginId, held)
    session.lost.delete(pluginId)
    const halves = halvesOf(code)
    log(agent, { type: 'cordis/package', ignorable: true, data: { pluginId, packageId, name, purpose, halves, ...(restoredFrom !== undefined && { restoredFrom }) } })
    pluginChanges.emit(agent.id)
    // It is always asked about, so where nobody was, a rule has answered.
    const isByRule = draft !== undefined && !isApproved
    return { pluginId, packageId, halves, folder, isApproved, ...(isByRule && { isByRule }), ...(draft?.base !== undefined && { against: draft.base.packageId, changes: draft.changes }) }
  }

  /** Errors: `DynamicPluginError`, when there cannot be a package more; asked after each wait, since others define and undefine meanwhile. */
  function refuseToAdd(session: SessionPlugins, plugin: PackageSource['plugin']): void {
    if (plugin.kind === 'new') {
      if (!/^[a-z]{3,6}$/.test(plugin.idPrefix)) throw new DynamicPluginError('INVALID_PLUGIN', `"${plugin.idPrefix}" is no prefix. It has 3 to 6 lower-case letters.`)
      if (session.plugins.size >= MAX_PLUGINS) throw new DynamicPluginError('PLUGIN_CAP', `This session has ${MAX_PLUGINS} plugins, which is as many as one may have. Undefine one first.`)
    } else if (!session.lost.has(plugin.pluginId) && heldOf(session, plugin.pluginId).packages.size >= MAX_PACKAGES) {
      throw new DynamicPluginError('PLUGIN_CAP', `The plugin ${plugin.pluginId} has ${MAX_PACKAGES} packages, which is as many as one may have. Undefine it and define a new one.`)
    }
  }

  return { define, planDefine, draftOf }
}
