import { childPath } from '../../base/address.ts'
import { seenFrom } from '../../base/folders.ts'
import { isUri } from '../../base/is-uri.ts'
import type { EditorFacts } from '../../capabilities/editor-facts.ts'
import type { WorkspaceFolder } from '../../capabilities/workspace.ts'
import type { Sessions } from '../../core/session/session.ts'
import type { PluginFacts } from '../dynamic-plugins/service.ts'
import type { FileIndex } from './file-index.ts'
import { LISTED_SESSIONS } from './look-up.ts'
import { pathReference, resourceReference } from './parse-references.ts'
import { PathIndex, type PathHit } from './path-index.ts'
import type { ReferenceCandidate, ReferencePlace } from './service.ts'

export interface CandidateNeeds {
  readonly index: Pick<FileIndex, 'find'>
  readonly facts: EditorFacts
  readonly sessions: Pick<Sessions, 'list'>
  /** Those that a model wrote for a session. */
  readonly plugins: (sessionId: string) => readonly { readonly facts: PluginFacts }[]
  /** Of the MCP servers that were reached. */
  readonly resources: () => readonly ResourceFacts[]
  readonly folders: () => readonly WorkspaceFolder[]
  readonly isSecret: (path: string) => boolean
  readonly maxResults: () => number
  /** Paths that messages of this window have named, newest first. */
  readonly named: () => readonly string[]
  readonly shown: (path: string, cwd: string) => string
}

/** A resource that a server lists. */
export interface ResourceFacts {
  readonly server: string
  readonly name: string
  readonly uri: string
}

type Found = (some: readonly ReferenceCandidate[]) => void

/** What is open or was named before counts for more than the same fit elsewhere. */
const OPEN_BONUS = 120
const SYMBOLS_SHOWN_FROM = 2

/** What may be meant by the words behind an `@`, best first. Errors: as `References.candidates`. */
export async function findCandidates(needs: CandidateNeeds, query: string, place: ReferencePlace, found: Found): Promise<readonly ReferenceCandidate[]> {
  const [, kind, rest = ''] = /^(symbol|session|mcp):(.*)$/.exec(query) ?? []
  if (kind === 'session') return sessionCandidates(needs, rest, place)
  if (kind === 'mcp') return resourceCandidates(needs, rest)
  if (kind === 'symbol') return symbolCandidates(needs, rest, place)
  return pathCandidates(needs, query, place, found)
}

async function pathCandidates(needs: CandidateNeeds, query: string, place: ReferencePlace, found: Found): Promise<readonly ReferenceCandidate[]> {
  const limit = needs.maxResults()
  const near = nearFiles(needs, query, place)
  const facts = [...pluginCandidates(needs, query, place), ...factCandidates(query, needs.resources().length > 0)]
  const put = (far: readonly Scored[]) => merged({ near, far, facts, query, limit, needs, place })
  // What is known without looking is there at once.
  found(put([]))
  const roots = rootsOf(needs.folders(), place.cwd)
  const byRoot = new Map<string, readonly Scored[]>()
  const all = () => [...byRoot.values()].flat()
  const list = async (root: string) => {
    const scored = (hits: readonly PathHit[]) => hits.map(({ path, score }) => ({ path: path.split('/').reduce(childPath, root.replace(/(?<=[^/])[\\/]$/, '')), score }))
    const options = {
      query,
      // Some of them look like secrets and are left out.
      limit: limit * 2,
      signal: place.signal,
      found: (hits: readonly PathHit[]) => {
        byRoot.set(root, scored(hits))
        found(put(all()))
      },
    }
    byRoot.set(root, scored(await needs.index.find(root, options)))
  }
  await Promise.all(roots.map(list))
  return put(all())
}

interface Scored {
  /** Absolute; a folder ends with a slash. */
  readonly path: string
  readonly score: number
}

interface Merge {
  readonly near: readonly Scored[]
  readonly far: readonly Scored[]
  readonly facts: readonly ReferenceCandidate[]
  readonly query: string
  readonly limit: number
  readonly needs: CandidateNeeds
  readonly place: ReferencePlace
}

function merged({ near, far, facts, query, limit, needs, place }: Merge): readonly ReferenceCandidate[] {
  const open = new Set(near.map(({ path }) => path))
  const files = [...near, ...far.filter(({ path }) => !open.has(path))]
    .sort((a, b) => b.score - a.score)
    // A folder that stands there already: what is in it is asked for.
    .filter(({ path }) => !path.endsWith(`/${query}`) || !query.endsWith('/'))
    .filter(({ path }) => !needs.isSecret(path.replace(/\/$/, '')))
  const paths = files.slice(0, limit).map(({ path }): ReferenceCandidate => {
    const isFolder = path.endsWith('/')
    const spelled = needs.shown(isFolder ? path.slice(0, -1) : path, place.cwd) + (isFolder ? '/' : '')
    return { kind: isFolder ? 'folder' : 'file', path: spelled, insert: pathReference(spelled), isOpen: open.has(path) }
  })
  return [...facts, ...paths].slice(0, limit)
}

/** Open editors and files that were named before, in the order in which they were seen last. */
function nearFiles({ facts, named }: CandidateNeeds, query: string, { cwd }: ReferencePlace): readonly Scored[] {
  const paths = [...new Set([...facts.openFiles(), ...named()])].filter((path) => !isUri(path) || isUri(cwd))
  if (query === '') return paths.map((path, place) => ({ path, score: 1_000 - place }))
  const index = new PathIndex({ maxBytes: 4_000_000 })
  const byName = new Map(paths.map((path) => [seenFrom(cwd, path), path]))
  for (const name of byName.keys()) index.add(name)
  return index.best(query, paths.length).map(({ path, score }) => ({ path: byName.get(path) ?? path, score: score + OPEN_BONUS }))
}

function pluginCandidates({ plugins }: CandidateNeeds, query: string, { sessionId = '' }: ReferencePlace): readonly ReferenceCandidate[] {
  const found = plugins(sessionId).filter(({ facts: { pluginId } }) => pluginId.startsWith(query.toLowerCase()))
  return found.map(({ facts: { pluginId, state, packages } }) => ({ kind: 'plugin', name: packages.at(-1)?.name ?? pluginId, state, insert: `@${pluginId}` }))
}

const factNames = ['selection', 'problems', 'changes', 'terminal'] as const

function factCandidates(query: string, hasResources: boolean): readonly ReferenceCandidate[] {
  const typed = query.toLowerCase()
  const facts = factNames.filter((name) => name.startsWith(typed)).map((kind): ReferenceCandidate => ({ kind, insert: `@${kind}` }))
  const openings = (
    [
      ['symbols', 'symbol'],
      ['sessions', 'session'],
      ['resources', 'mcp'],
    ] as const
  ).flatMap(([kind, word]): readonly ReferenceCandidate[] => (word.startsWith(typed) && (kind !== 'resources' || hasResources) ? [{ kind, insert: `@${word}:` }] : []))
  return [...facts, ...openings]
}

async function sessionCandidates({ sessions, maxResults }: CandidateNeeds, query: string, { sessionId }: ReferencePlace): Promise<readonly ReferenceCandidate[]> {
  const listed = (await sessions.list()).filter(({ id, problem, startedBy, isNamed }) => id !== sessionId && problem === undefined && (startedBy === undefined || isNamed)).slice(0, LISTED_SESSIONS)
  const index = new PathIndex({ maxBytes: 4_000_000 })
  const byTitle = new Map(listed.map((summary) => [`${summary.title.replaceAll('/', ' ')} ${summary.id}`, summary]))
  for (const title of byTitle.keys()) index.add(title)
  const hits = query === '' ? [...byTitle.values()] : index.best(query, maxResults()).flatMap(({ path }) => byTitle.get(path) ?? [])
  return hits.slice(0, query === '' ? LISTED_SESSIONS : maxResults()).map(({ id, title, updatedAt }) => ({ kind: 'session', title, updatedAt, insert: `@session:${shortId(id, listed)}` }))
}

function resourceCandidates({ resources, maxResults }: CandidateNeeds, query: string): readonly ReferenceCandidate[] {
  const all = resources().filter(({ uri }) => !uri.includes('"'))
  const index = new PathIndex({ maxBytes: 4_000_000 })
  // Two things may have one name; each stands for what was typed of its server, its address or its name.
  const byText = new Map(all.map((resource) => [`${resource.server}:${resource.uri} ${resource.name.replaceAll('/', ' ')}`, resource]))
  for (const text of byText.keys()) index.add(text)
  const hits = query === '' ? [...byText.values()] : index.best(query, maxResults()).flatMap(({ path }) => byText.get(path) ?? [])
  return hits.slice(0, maxResults()).map(({ server, name, uri }) => ({ kind: 'resource', server, name, uri, insert: resourceReference(server, uri) }))
}

/** As much of an id as no other one begins with, at least eight letters. */
function shortId(id: string, all: readonly { readonly id: string }[]): string {
  for (let length = 8; length < id.length; length++) {
    const short = id.slice(0, length)
    if (all.filter((other) => other.id.startsWith(short)).length === 1) return short
  }
  return id
}

async function symbolCandidates({ facts, isSecret, maxResults, shown }: CandidateNeeds, query: string, { cwd, signal }: ReferencePlace): Promise<readonly ReferenceCandidate[]> {
  if (query.length < SYMBOLS_SHOWN_FROM) return []
  const symbols = await facts.symbols(query, signal)
  const byInsert = new Map<string, ReferenceCandidate>()
  for (const { name, kind, path, startLine } of symbols) {
    if (isSecret(path)) continue
    const plain = name.replace(/\(.*$/, '')
    const insert = /[\s"'`,;)\]}>]/.test(plain) ? `@symbol:"${plain}"` : `@symbol:${plain}`
    // A name says no place: the message gets the first, and is told where the others are.
    if (!byInsert.has(insert)) byInsert.set(insert, { kind: 'symbol', name, symbolKind: kind, path: `${shown(path, cwd)}:${startLine}`, insert })
  }
  return [...byInsert.values()].slice(0, maxResults())
}

/** The folder of the session and the window's others, none twice and none within another. */
function rootsOf(folders: readonly WorkspaceFolder[], cwd: string): readonly string[] {
  const all = [...new Set([cwd, ...folders.map(({ path }) => path)])].filter((path) => !/^[a-z][\w+.-]+:\/\//i.test(path))
  return all.filter((path) => !all.some((other) => other !== path && seenFrom(other, path) !== path))
}
