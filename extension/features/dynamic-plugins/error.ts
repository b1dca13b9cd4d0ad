import { HarnessError } from '../../base/harness-error.ts'

export type DynamicPluginErrorCode =
  /** The setting is off. */
  | 'PLUGINS_OFF'
  | 'NOT_TRUSTED'
  | 'NO_AGENT'
  | 'INVALID_PLUGIN'
  | 'PLUGIN_SYNTAX'
  | 'UNKNOWN_PLUGIN'
  | 'UNKNOWN_PACKAGE'
  /** Plugins of a session, packages of a plugin, bytes of a half. */
  | 'PLUGIN_CAP'
  /** It runs, or does not run, and the mode asks for the other. */
  | 'WRONG_MODE'
  /** One start, update or stop of a plugin at a time. */
  | 'transition-in-flight'
  /** The host half did not come to run; the message says why. */
  | 'RUN_FAILED'
  /** A tool of a plugin failed, in its own words. */
  | 'TOOL_FAILED'
  | 'UNKNOWN_QUERY'
  | 'INVALID_QUERY'
  /** What a provider gave is not what its manifest says. */
  | 'INVALID_ANSWER'
  /** Its files are not there, or are no plugin. */
  | 'NOT_RESTORABLE'

export class DynamicPluginError extends HarnessError<DynamicPluginErrorCode> {}

export type ClientCallErrorCode = 'plugin-not-running' | 'stale-run' | 'method-not-found' | 'handler-error'

/** What a client half is told of a call that came to nothing. */
export class ClientCallError extends HarnessError<ClientCallErrorCode> {}
