import type { CodeLimits } from '../../capabilities/code-runtime.ts'
import { MAX_PLUGIN_PAYLOAD_BYTES } from '../../protocol/plugin-frame.ts'

/** Of one session. */
export const MAX_PLUGINS = 50
/** Of one plugin. */
export const MAX_PACKAGES = 50
/** At once, of one session; each has a thread and a machine of its own. */
export const MAX_RUNNING = 8
/** At once, of all sessions of this window. */
export const MAX_RUNNING_IN_ALL = 16
/** UTF-8 bytes of one half. */
export const MAX_CODE_BYTES = 200_000
/** UTF-16 units of a name, and of a purpose. */
export const MAX_NAME_CHARS = 100
export const MAX_PURPOSE_CHARS = 2_000
/** What one host half may declare. */
export const MAX_TOOLS = 16
export const MAX_HANDLERS = 64
export const MAX_SECTIONS = 5
/** UTF-16 units of one section of the prompt. */
export const MAX_SECTION_CHARS = 4_000
/** Handlers, tools and listeners of one host half that are at work at once. */
export const MAX_TASKS_AT_ONCE = 32
/** Events that wait for a host half; older ones are left out. */
export const MAX_WAITING_EVENTS = 100
/** What a host half may ask of the host between two tasks: lines, events for the client half, inspections, calls. */
export const MAX_ASKS = 1_000
/** Calls of tools within one execution of a tool. */
export const MAX_SUB_CALLS = 100
/** Tools of plugins that are at work at once under one call of the model: a plugin that calls itself ends there. */
export const MAX_NESTED_TOOLS = 8
/** UTF-8 bytes of what crosses to a half and back, and of a value of a tool. */
export const MAX_PAYLOAD_BYTES = MAX_PLUGIN_PAYLOAD_BYTES
/** Of one call of a handler. */
export const HANDLER_MS = 30_000
/** Of one execution of a tool of a plugin, its calls included. */
export const TOOL_MS = 600_000
/** How long the undos of a host half may take, before its machine is taken away. */
export const STOP_MS = 5_000
/** How long a chat view may take to draw a client half. */
export const DRAW_MS = 30_000
/** Lines that are kept of one run, and UTF-16 units of each. */
export const MAX_LINES = 200
export const MAX_LINE_CHARS = 2_000

/** Of the machine of a host half. Source: runtime specification 22 for the slice. */
export const hostLimits: CodeLimits = {
  sliceMs: 5_000,
  memoryBytes: 64 * 1_048_576,
  stackBytes: 524_288,
  outputBytes: MAX_PAYLOAD_BYTES,
  // Counted between two tasks instead, since it lives on.
  calls: 0,
  callsAtOnce: 128,
}
