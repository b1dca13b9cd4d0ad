import { childPath, foldersDown } from '../../base/folders.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Fence } from '../../core/told/guarded-read.ts'
import { canonical, rootsOf } from '../../core/told/roots.ts'
import type { SkillOrigin } from './service.ts'

/** Folders of other tools that a setting adds. */
const otherToolFolders = ['.claude/skills', '.github/skills'] as const
export type OtherToolFolder = (typeof otherToolFolders)[number]

export interface PlaceOptions {
  readonly alsoRead: readonly OtherToolFolder[]
  /** Absolute, or below `~/`. */
  readonly folders: readonly string[]
  readonly rootMarkers: readonly string[]
}

/** A folder that may hold skills. */
export interface SkillPlace {
  readonly folder: string
  readonly origin: SkillOrigin
  /** The lowest goes first; within one rank the place that stands first. */
  readonly rank: number
  readonly label?: string
}

/** Source: capability specification 13, "Discovery". Folders of other tools stand behind the shared one. */
export const ranks = {
  project: { '.bosun/skills': 100, '.agents/skills': 200, '.claude/skills': 220, '.github/skills': 240 },
  contributed: 250,
  custom: 300,
  user: { '.bosun/skills': 400, '.agents/skills': 500, '.claude/skills': 520 },
  bundled: 600,
} as const

export interface SkillPlaces {
  /** In the order in which they go first. */
  readonly places: readonly SkillPlace[]
  /** What the skills of a project may not lead out of. */
  readonly fenceFolders: Fence['folders']
}

interface Needs {
  readonly files: Pick<FileSystem, 'resolve'>
  readonly machine: Pick<Machine, 'homeFolder' | 'userFolder'>
  readonly workspace: Pick<Workspace, 'folders'>
}

/** Where the skills of a session in `cwd` may stand: nearest folder first, up to the project's root, then the person's own. */
export async function placesFor(cwd: string, { files, machine, workspace }: Needs, { alsoRead, folders, rootMarkers }: PlaceOptions): Promise<SkillPlaces> {
  const roots = (await rootsOf(cwd, { files, workspace }, rootMarkers)).toReversed()
  const own = await ownPlaces({ files, machine }, alsoRead, folders)
  const project = roots.flatMap(({ folder, projectRoot, label }) =>
    foldersDown(projectRoot, folder)
      .toReversed()
      .flatMap((at) =>
        (['.bosun/skills', '.agents/skills', ...alsoRead] as const).map(
          (name): SkillPlace => ({ folder: childPath(at, name), origin: 'project', rank: ranks.project[name], ...(label !== undefined && { label }) }),
        ),
      ),
  )
  // A folder of the person stays theirs where the project is their home.
  const places = new Map([...own, ...project].map((place) => [place.folder, place] as const).toReversed())
  return {
    places: [...places.values()].toReversed().toSorted((a, b) => a.rank - b.rank),
    fenceFolders: [...own.map(({ folder }) => folder), ...roots.flatMap(({ folder, projectRoot }) => [folder, projectRoot])],
  }
}

async function ownPlaces({ files, machine }: Pick<Needs, 'files' | 'machine'>, alsoRead: readonly OtherToolFolder[], folders: readonly string[]): Promise<readonly SkillPlace[]> {
  const { homeFolder, userFolder } = machine
  const atHome = (path: string) => (path.startsWith('~/') ? childPath(homeFolder, path.slice(2)) : path)
  const wanted: readonly SkillPlace[] = [
    ...folders.map((path): SkillPlace => ({ folder: atHome(path), origin: 'custom', rank: ranks.custom })),
    { folder: childPath(userFolder, 'skills'), origin: 'user', rank: ranks.user['.bosun/skills'] },
    { folder: childPath(homeFolder, '.agents/skills'), origin: 'user', rank: ranks.user['.agents/skills'] },
    ...(alsoRead.includes('.claude/skills') ? [{ folder: childPath(homeFolder, '.claude/skills'), origin: 'user' as const, rank: ranks.user['.claude/skills'] }] : []),
  ]
  return await Promise.all(wanted.map(async (place) => ({ ...place, folder: await canonical(files, place.folder) })))
}
