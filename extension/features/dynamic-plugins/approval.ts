import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { ApprovalRequest } from '../../core/policy/approval.ts'
import type { ToolEffect } from '../../core/policy/tool-effects.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { BookParts } from './book-parts.ts'
import { codeChanges, codeQuestion, type AskedPackage } from './code-question.ts'
import type { Defining } from './define.ts'
import type {} from './events.ts'
import type { Held, Package } from './held.ts'
import type { Records } from './records.ts'

/** What the person is asked about the code of models, and what their answer counts for. */
export interface Approvals {
  /** What a call of `cordis_define` would do, for policy. */
  defineEffect(agent: Agent | undefined): ToolEffect
  /** What a call of `cordis_run` would do, for policy. */
  runEffect(agent: Agent | undefined, args: JsonObject): ToolEffect
  /** The person is asked about a call; undefined when it names nothing that could run. */
  beginApproval(request: Pick<ApprovalRequest, 'agent' | 'toolName' | 'arguments'>): { readonly approvalId: string; settle(outcome: 'allowed' | 'rejected' | 'cancelled' | 'unavailable', isForAllVersions: boolean): void } | undefined
}

/** The answers are kept with the packages, and with those that are not yet defined. */
export function createApprovals({ dispatch, problem }: Pick<BookParts, 'dispatch' | 'problem'>, { records, draftOf, planDefine }: { readonly records: Records } & Pick<Defining, 'draftOf' | 'planDefine'>): Approvals {
  const { folderOf, sessionOf, log } = records

  function runEffect(agent: Agent | undefined, args: JsonObject): ToolEffect {
    const named = agent === undefined ? undefined : namedIn(agent, args)
    // The call itself says what is wrong with it.
    if (agent === undefined || named === undefined) return { kind: 'none' }
    const { held: { pluginId, lastApproved }, pack } = named
    const base = lastApproved === pack ? undefined : lastApproved
    const { packageId, name, purpose, code, isApproved } = pack
    const asked: AskedPackage = { pluginId, packageId, name, purpose, code, folder: folderOf(agent.id, pluginId, packageId) }
    if (pack.diff === undefined || pack.diff.base !== base?.packageId) pack.diff = { base: base?.packageId, changes: codeChanges(asked, base) }
    return codeQuestion(asked, { words: `Run the plugin \`${pluginId}\` (${packageId})`, base, changes: pack.diff.changes, isKnown: isApproved })
  }

  function defineEffect(agent: Agent | undefined): ToolEffect {
    // The call itself says why it cannot be.
    if (agent === undefined || problem() !== undefined) return { kind: 'none' }
    return { kind: 'script', words: 'Define a plugin', why: '', isKnown: false, isAlwaysAsked: true, plan: planDefine }
  }

  function namedIn(agent: Agent, args: Json | undefined): { readonly held: Held; readonly pack: Package } | undefined {
    if (args === undefined || !isJsonObject(args) || problem() !== undefined) return undefined
    const { pluginId, packageId } = args
    const held = typeof pluginId === 'string' ? sessionOf(agent).plugins.get(pluginId) : undefined
    const pack = typeof packageId === 'string' ? held?.packages.get(packageId) : undefined
    return held === undefined || pack === undefined ? undefined : { held, pack }
  }

  /** Of a call of a tool that the person is asked about. */
  function askedBy({ agent, toolName, arguments: args }: Pick<ApprovalRequest, 'agent' | 'toolName' | 'arguments'>): { readonly pluginId: string; readonly packageId: string; readonly target: { isApproved: boolean } } | undefined {
    if (toolName === 'cordis_define') {
      const draft = draftOf(agent, args)
      return draft && { pluginId: draft.pluginId, packageId: draft.packageId, target: draft }
    }
    const named = toolName === 'cordis_run' ? namedIn(agent, args) : undefined
    return named && { pluginId: named.held.pluginId, packageId: named.pack.packageId, target: named.pack }
  }

  function beginApproval(request: Parameters<Approvals['beginApproval']>[0]): ReturnType<Approvals['beginApproval']> {
    const asked = askedBy(request)
    if (asked === undefined) return undefined
    const { agent, toolName } = request
    const { pluginId, packageId, target } = asked
    const approvalId = `approval-${++sessionOf(agent).lastApproval}`
    const facts = { agent, approvalId, pluginId, packageId }
    dispatch.emit('cordis/request-run', agent.scope, [facts])
    return {
      approvalId,
      settle(outcome, isForAllVersions) {
        if (outcome === 'allowed') target.isApproved = true
        log(agent, { type: 'cordis/approval', ignorable: true, data: { approvalId, pluginId, packageId, outcome, tool: toolName, ...(isForAllVersions && { isForAllVersions }) } })
        dispatch.emit('cordis/request-run-resolved', agent.scope, [{ ...facts, outcome }])
      },
    }
  }

  return { defineEffect, runEffect, beginApproval }
}
