/** Whose configuration language a hook is written in. */
export type HookDialect = 'claude' | 'codex' | 'bosun'

/** Moments of a session at which hooks run, by their names in the configurations. */
export const hookPoints = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'SessionEnd',
] as const
export type HookPoint = (typeof hookPoints)[number]

/** What each dialect’s hooks are run for here. Source: runtime specification 20. */
export const pointsOf: Readonly<Record<HookDialect, readonly HookPoint[]>> = {
  claude: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'SubagentStart', 'SubagentStop', 'PreCompact', 'SessionEnd'],
  codex: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'],
  bosun: hookPoints,
}

/** One command of a configuration. */
export interface Hook {
  /** Stable within its file: `<path>#<point>.<n>`. */
  readonly id: string
  readonly dialect: HookDialect
  readonly point: HookPoint
  /** As written; empty or `*`: everything. */
  readonly matcher: string
  readonly command: string
  /** Of this hook alone. */
  readonly timeoutMs?: number
  /** The file it stands in. */
  readonly path: string
}

/** Something in a configuration that does not run, with the reason for the person. */
export interface SkippedHook {
  readonly path: string
  /** Where in the file, such as `PreToolUse[0]`; empty for the file itself. */
  readonly at: string
  readonly reason: string
}

/** One configuration file, read. */
export interface HookFile {
  readonly path: string
  readonly dialect: HookDialect
  readonly hooks: readonly Hook[]
  readonly skipped: readonly SkippedHook[]
  /** Of all commands in it: what the person consents to. */
  readonly digest: string
  /** The folder of the project that it stands in; absent for the person's own. */
  readonly root?: HookRoot
}

/** A folder whose configurations are read. */
export interface HookRoot {
  readonly path: string
  /** Where there are several: what tells it from the others. */
  readonly label?: string
}
