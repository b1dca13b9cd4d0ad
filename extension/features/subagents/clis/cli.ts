import type { JsonObject } from '../../../base/json.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import type { ChildStopReason } from '../service.ts'

/** A coding agent that the person has installed, and how to talk to it. */
export interface AgentCli {
  /** Name of the provider. */
  readonly name: 'codex' | 'claude-code'
  /** For people. */
  readonly title: string
  readonly tool: 'subagent_codex' | 'subagent_claude_code'
  readonly program: string
  /** Where the settings of this one begin, such as `subagents.codex.`. */
  readonly settingsPrefix: string
  configuration(settings: Pick<Settings, 'get'>): CliConfiguration
  /** What the person is asked about: the program with its arguments, without anything of the task. */
  commandLine(settings: Pick<Settings, 'get'>): string
  /** How one task is given to it. `isReadOnly`: whoever starts it may change nothing, so it may not either. */
  open(task: CliTask, settings: Pick<Settings, 'get'>): CliRun
}

export interface CliConfiguration {
  readonly isEnabled: boolean
  /** Null: looked for on PATH. */
  readonly path: string | null
  readonly env: Readonly<Record<string, string>>
  /** The chosen mode lets it do anything anywhere: nothing can hold it to a folder. */
  readonly isUnbounded: boolean
}

export interface CliTask {
  readonly prompt: string
  readonly isReadOnly: boolean
}

export interface CliRun {
  readonly args: readonly string[]
  readonly protocol: CliProtocol
}

/** Where a run stood when it failed. Source: agent tools specification 6.2. */
export type CliStage = 'initialize' | 'thread-start' | 'turn-start' | 'turn' | 'query-start' | 'query-run' | 'process' | 'teardown'

/** How a run ended, as far as the conversation says. */
export interface CliVerdict {
  readonly stopReason: ChildStopReason
  readonly output: string
  /** Where the conversation stood. */
  readonly stage: CliStage
  /** Why it is no success, in our words; what the program said of it goes apart. */
  readonly problem?: string
  /** The program's own words of its failure. */
  readonly said?: string
}

export interface CliStep {
  /** Messages to the program. */
  readonly send?: readonly JsonObject[]
  /** It is over. */
  readonly end?: CliVerdict
}

/** One side of a conversation with a program: what is said first, and what each message of it leads to. No clock, no process. */
export interface CliProtocol {
  readonly stage: CliStage
  /** It has taken the task: from here on it may be silent for long. */
  readonly isWorking: boolean
  /** What it said so far of its answer, for who wants to look on and for a run that is cut off. */
  readonly partial: string
  begin(): readonly JsonObject[]
  receive(message: JsonObject): CliStep
  /** Asks it to stop; empty where closing its input is all there is. */
  interrupt(): readonly JsonObject[]
}

/** UTF-16 units of an answer that are kept. */
export const MAX_ANSWER = 4_000_000
