import type { Clock } from '../../capabilities/clock.ts'
import type { EditorFacts } from '../../capabilities/editor-facts.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { Search } from '../../capabilities/search.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type {} from '../../core/loop/points.ts'
import { changingPathMatcher, styleOf } from '../../core/policy/paths.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import { findCandidates } from './candidates.ts'
import { FileIndex } from './file-index.ts'
import type {} from '../dynamic-plugins/service.ts'
import { lookUp, MAX_SESSIONS, selectionBlock, type LookUpNeeds, type NamedPlugin } from './look-up.ts'
import { imageLimits } from '../../protocol/image-limits.ts'
import { parseReferences, pathReference } from './parse-references.ts'
import { separateContext } from './separate-context.ts'
import { UnresolvedReference, type References } from './service.ts'

export interface ReferencesPluginNeeds {
  readonly facts: EditorFacts
  readonly files: Pick<FileSystem, 'resolve' | 'readLines'>
  readonly logger: Logger
  readonly machine: Pick<Machine, 'platform' | 'randomId'>
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly clock: Pick<Clock, 'schedule'>
  readonly search: Pick<Search, 'list'>
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted'>
  readonly maxResults: () => number
  readonly sensitivePaths: () => readonly string[]
  readonly shown: (path: string, cwd: string) => string
}

/** Bytes of memory for the paths of one folder; 100 000 paths take 19 MB. */
const MAX_INDEX_BYTES = 64_000_000
/** References of one message that are looked up. */
const MAX_REFERENCES = 20
const MAX_NAMED = 50

/** What a person points at with an `@`: offered while they type, looked up when they send, told to the model each with its source. */
export function referencesPlugin(needs: ReferencesPluginNeeds): Plugin {
  return {
    name: 'references',
    inject: ['sessions', 'systemPrompt'],
    apply(ctx) {
      const { clock, facts, files, logger, machine, processes, search, workspace, shown } = needs
      const index = new FileIndex({
        search,
        facts,
        maxBytes: MAX_INDEX_BYTES,
        onCut: (folder, count) => logger.warn('A folder has more files than the list of references may hold; the rest is not offered.', { folder, count }),
      })
      const secretPattern = changingPathMatcher(needs.sensitivePaths, styleOf(machine))
      const isSecret = (path: string) => secretPattern(path) !== null
      let named: readonly string[] = []
      /** A plain look, for a service that only some sessions use. */
      const plugins = (sessionId: string): readonly NamedPlugin[] => {
        const service = ctx.get('dynamicPlugins')
        const agent = service?.isEnabled === true ? ctx.get('agents')?.live(sessionId) : undefined
        if (service === undefined || agent === undefined) return []
        return service.list(agent).map((facts) => {
          const newest = facts.state === 'lost' ? undefined : facts.packages.at(-1)
          return { facts, lines: service.linesOf(agent, facts.pluginId).slice(-30), code: newest === undefined ? {} : service.codeOf(agent, facts.pluginId, newest.packageId) }
        })
      }
      const lookUpNeeds: LookUpNeeds = { clock, facts, files, processes, sessions: ctx.sessions, plugins, mcp: () => ctx.get('mcp'), isTrusted: workspace.isTrusted, isSecret, shown }
      const resources = () => (ctx.get('mcp')?.report().servers ?? []).flatMap(({ name: server, resources: listed }) => listed.map(({ name, uri }) => ({ server, name, uri })))
      const references: References = {
        candidates: (query, place, found) => {
          // Whoever points at something before there is a session may mean what a server has.
          ctx.get('mcp')?.wake()
          return findCandidates({ index, facts, sessions: ctx.sessions, plugins, resources, folders: workspace.folders, isSecret, maxResults: needs.maxResults, named: () => named, shown }, query, place, found)
        },
        async content(text, place) {
          const known = text.includes('@') ? new Set(plugins(place.sessionId ?? '').map(({ facts: { pluginId } }) => pluginId)) : new Set<string>()
          const found = parseReferences(text, (id) => known.has(id))
          refuseTooMany(found)
          const blocks = (await Promise.all(found.map((reference) => lookUp(reference, place, lookUpNeeds)))).flat()
          if (blocks.filter(({ type }) => type === 'image').length > imageLimits.maxImages) throw new UnresolvedReference('TOO_MANY', `A message can hold ${imageLimits.maxImages} pictures, and this one names more. Take some out, then send again.`)
          named = [...new Set([...mentionedPaths(text, place.cwd), ...named])].slice(0, MAX_NAMED)
          return text.trim() === '' ? blocks : [{ type: 'text', text }, ...blocks]
        },
        selection: (place) => selectionBlock(lookUpNeeds, place, 'selection'),
        spelling: (path, cwd) => pathReference(shown(path, cwd)),
      }
      ctx.provide('references', references)
      ctx.systemPrompt.section({ name: 'references', order: 99, text: forTheModel })
      ctx.on('agent/pre-step', async (_place, next) => {
        const decision = await next()
        if (decision.kind !== 'enter') return decision
        const messages = decision.messages.flatMap((message: UserMessage) => separateContext(message, () => machine.randomId()))
        return messages.length === decision.messages.length ? decision : { ...decision, messages }
      })
      return () => index.dispose()
    },
  }
}

const forTheModel =
  '`@path` in the person’s words names a file or folder of the workspace, `@path:10-20` lines of it: read what you need of it before you answer. What else stands behind an `@`, such as `@selection` or `@changes`, follows in a `<reference>` block.'

function refuseTooMany(found: ReturnType<typeof parseReferences>): void {
  const sessions = found.filter(({ kind }) => kind === 'session').length
  if (sessions > MAX_SESSIONS) throw new UnresolvedReference('TOO_MANY', `A message can refer to ${MAX_SESSIONS} sessions, and this one names ${sessions}. Take some out, then send again.`)
  if (found.length > MAX_REFERENCES) throw new UnresolvedReference('TOO_MANY', `A message can refer to ${MAX_REFERENCES} things, and this one names ${found.length}. Take some out, then send again.`)
}

/** Paths behind an `@`, absolute, whether they exist or not. */
function mentionedPaths(text: string, cwd: string): readonly string[] {
  return [...text.matchAll(/(?:^|[\s([{<,;'])@(?:"([^"\n]+)"|([\w./\\-]+))/g)].flatMap(([, quoted, plain = '']) => {
    const path = (quoted ?? plain).replace(/[./]+$/, '')
    if (!/[./\\]/.test(path)) return []
    return [path.startsWith('/') ? path : `${cwd}/${path}`]
  })
}
