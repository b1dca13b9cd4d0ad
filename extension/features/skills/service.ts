import { HarnessError } from '../../base/harness-error.ts'
import type { Undo } from '../../base/undo.ts'
import type { Emit } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'

/** Who keeps a skill: the project, another part of the application or the editor, a folder of a setting, the person, Bosun. */
export type SkillOrigin = 'project' | 'contributed' | 'custom' | 'user' | 'bundled'

/** Where what a skill names relatively is found. */
export type ResourceBase =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'opaque'; readonly description: string }

/** What the front matter of a skill says. */
export interface SkillFacts {
  /** `[a-z0-9]+(-[a-z0-9]+)*`. */
  readonly name: string
  readonly description: string
  readonly whenToUse?: string
  /** The model may load it by itself: it stands in the list. */
  readonly isForModel: boolean
  /** The person may call it with `/name`. */
  readonly isForPerson: boolean
}

/** A skill that can be loaded. */
export interface Skill extends SkillFacts {
  readonly origin: SkillOrigin
  /** Its file as it was found; of a contributed one, who contributes it. */
  readonly path: string
  /** The workspace folder it belongs to, named where the window has several. */
  readonly label?: string
}

/** What a model gets of a skill; the canonical value of the tool `skill`. */
export interface LoadedSkill {
  readonly name: string
  readonly provider: string
  readonly resourceBase?: ResourceBase
  /** Without the front matter, verbatim. */
  readonly content: string
}

/** A skill that no file holds. */
export interface ContributedSkill extends Omit<SkillFacts, 'isForModel' | 'isForPerson'> {
  readonly isForModel?: boolean
  readonly isForPerson?: boolean
  /** Who contributes it, for the person and the model. */
  readonly provider: string
  /** What comes with Bosun stands behind everything else. Absent: `contributed`. */
  readonly origin?: 'contributed' | 'bundled'
  readonly resourceBase?: ResourceBase
  /** Errors: whatever is thrown is the reason why it cannot be loaded. */
  content(): string | Promise<string>
}

export type SkillState =
  | 'loaded'
  /** Another of the same name goes first. */
  | 'shadowed'
  | 'broken'
  /** The workspace is not trusted. */
  | 'refused'

/** A skill as the person sees it, whatever became of it. */
export interface SkillRow {
  /** As its front matter says; where that could not be read, as its file or folder is called. */
  readonly name: string
  readonly path: string
  readonly origin: SkillOrigin
  readonly label?: string
  readonly state: SkillState
  readonly description?: string
  readonly isForModel?: boolean
  readonly isForPerson?: boolean
  /** Why it is not loaded, or what is odd about it. */
  readonly reason?: string
}

export interface SkillReport {
  /** Those that go first stand first. */
  readonly rows: readonly SkillRow[]
  /** Why the model is not told of them. */
  readonly note?: string
}

export type SkillErrorCode =
  | 'SKILL_INVALID_NAME'
  | 'SKILL_NOT_FOUND'
  /** It is not open to whoever asks: the model, or the person. */
  | 'SKILL_NOT_ALLOWED'
  | 'SKILL_BROKEN'
  | 'WORKSPACE_UNTRUSTED'

export class SkillError extends HarnessError<SkillErrorCode> {}

/** Packages of instructions that a model loads when it needs them. Source: capability specification 13. */
export interface Skills {
  /** Of the file that holds one. */
  readonly maxFileBytes: number
  /** Those of a session's folders as last found, in the order in which they go first. */
  list(agent: Pick<Agent, 'session'>): readonly Skill[]
  /** What one says, read anew. Errors: `SkillError`. */
  load(name: string, asked: { readonly agent?: Pick<Agent, 'session'>; readonly by: 'model' | 'person' }): Promise<LoadedSkill>
  /** A loaded one in the words of the model. */
  render(loaded: LoadedSkill): string
  /** Everything as it is now. Reads the folders anew. */
  report(of: { readonly session: Pick<Session, 'id' | 'header'> } | { readonly cwd: string }): Promise<SkillReport>
  /** A skill that no file holds, for the life of the context. Errors: `SkillError` `SKILL_INVALID_NAME`; `Error` for a name that is contributed already. */
  contribute(skill: ContributedSkill): Undo
  /** Canonical folders of the skills outside the workspace: what they bring along may be read. */
  resourceFolders(sessionId: string): readonly string[]
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    skills: Skills
  }
  interface ExtensionPoints {
    /** Some list of skills is another. */
    'skills/change': Emit<[]>
  }
}
declare module '../../core/log/message.ts' {
  interface UserSources {
    /** `digest` is that of the whole list; 0 of `count`: there are none any more. */
    'skill-catalog': { readonly digest: string; readonly count: number; readonly omittedCount: number }
    'skill-invocation': { readonly name: string; readonly provider: string }
  }
}
