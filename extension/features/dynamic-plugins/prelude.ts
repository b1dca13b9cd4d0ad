/** Stands before the body of a host half on its first line, so that lines are its own; `prelude` gives `servePlugin`. */
export const OPENING = 'return await servePlugin(async (harness, ctx) => {'
export const CLOSING = '\n})'

/**
 * What a host half finds: `harness` and `ctx`, and nothing else of the host.
 *
 * The program never returns by itself: after the body it asks for one task after the other (`next`), and answers each (`reply`).
 * Whatever it uses of the language is kept before the body runs, so that a body which alters its world harms itself alone; the host
 * trusts nothing of what comes over all the same.
 *
 * `events`: those that may be listened to.
 * Source: runtime specification 22.
 */
export const prelude = (events: readonly string[]): string => `
const { freeze, defineProperty } = Object
const { stringify } = JSON
const toText = String, Failure = Error, WrongType = TypeError
const bare = (method) => Function.prototype.call.bind(method)
const has = bare(Map.prototype.has), get = bare(Map.prototype.get), set = bare(Map.prototype.set)
const push = bare(Array.prototype.push), pop = bare(Array.prototype.pop)
const then = bare(Promise.prototype.then)
const handlers = new Map(), tools = new Map(), listeners = new Map()
const declared = { handlers: [], tools: [], events: [], sections: [] }
const undos = []
const known = new Map()
for (const name of ${JSON.stringify(events)}) set(known, name, true)
let phase = 'new'

const nothing = () => undefined
const declaring = (what) => {
  if (phase !== 'starting') throw new Failure(what + ' can be declared only while the plugin starts: in the body, or in apply.')
}
const needFunction = (value, what) => {
  if (typeof value !== 'function') throw new WrongType(what + ' takes a function.')
}
const needText = (value, what) => {
  if (typeof value !== 'string' || value === '') throw new WrongType(what + ' is a text.')
}
const shown = (value) => {
  if (typeof value === 'string') return value
  try {
    if (typeof value === 'object' && value !== null) return value instanceof Failure ? toText(value) : stringify(value) || toText(value)
    return toText(value)
  } catch (error) {
    return 'a value without text'
  }
}
const log = (level) => (...parts) => {
  let line = ''
  for (let index = 0; index < parts.length; index++) line += (index > 0 ? ' ' : '') + shown(parts[index])
  then(host('log', level, line), nothing, nothing)
}
const logger = freeze({ debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') })
defineProperty(globalThis, 'console', { value: freeze({ ...logger, log: log('info') }), configurable: true, writable: true, enumerable: false })

const handle = (method, fn) => {
  declaring('A handler')
  needText(method, 'The name of a method')
  needFunction(fn, 'handle')
  if (has(handlers, method)) throw new Failure('The method ' + method + ' is declared already.')
  set(handlers, method, fn)
  push(declared.handlers, method)
}
const tool = (definition) => {
  declaring('A tool')
  if (typeof definition !== 'object' || definition === null) throw new WrongType('tool takes { name, description, parameters, execute }.')
  const { name, description, parameters, execute } = definition
  needText(name, 'The name of a tool')
  needFunction(execute, 'execute of the tool ' + name)
  if (has(tools, name)) throw new Failure('The tool ' + name + ' is declared already.')
  set(tools, name, execute)
  push(declared.tools, { name, description: description === undefined ? '' : description, parameters: parameters === undefined ? {} : parameters })
}
const emit = (name, payload) => {
  needText(name, 'The name of an event')
  then(host('emit', name, payload === undefined ? null : payload), nothing, nothing)
}
const on = (event, fn) => {
  declaring('A listener')
  needFunction(fn, 'on')
  if (!has(known, event)) throw new Failure('There is no event ' + shown(event) + ' to listen to. There are: ' + ${JSON.stringify(events.join(', '))} + '.')
  if (!has(listeners, event)) {
    set(listeners, event, [])
    push(declared.events, event)
  }
  push(get(listeners, event), fn)
}
const effect = (undo) => {
  needFunction(undo, 'effect')
  push(undos, undo)
}
const section = (given) => {
  declaring('A section of the prompt')
  if (typeof given !== 'object' || given === null) throw new WrongType('section takes { name, text, order? }.')
  const { name, text, order } = given
  needText(name, 'The name of a section')
  needText(text, 'The text of a section')
  push(declared.sections, order === undefined ? { name, text } : { name, text, order })
}
const inspect = (provider, method, input) => (input === undefined ? host('inspect', provider, method) : host('inspect', provider, method, input))
const callOutside = async () => {
  throw new Failure('Tools are called only while a tool of the plugin runs: by exec.tools.call(name, args) in its execute(args, exec).')
}
const harness = freeze({ handle, tool, emit })
const ctx = freeze({ logger, on, effect, inspect, tools: freeze({ register: tool, call: callOutside }), systemPrompt: freeze({ section }) })

const perform = async ({ kind, id, name, value }) => {
  if (kind === 'handler') return await get(handlers, name)(value)
  if (kind === 'tool') return await get(tools, name)(value, freeze({ tools: freeze({ call: async (called, args) => await host('call', id, called, args === undefined ? {} : args) }) }))
  const found = get(listeners, name)
  for (let index = 0; index < found.length; index++) await found[index](value)
}
const reply = async (task) => {
  let value
  try {
    value = await perform(task)
  } catch (error) {
    let message = 'It failed with a value that has no text.'
    try {
      message = error instanceof Failure ? toText(error.message) : shown(error)
    } catch (again) {}
    return await host('reply', task.id, false, message)
  }
  try {
    await host('reply', task.id, true, value === undefined ? null : value)
  } catch (error) {
    await host('reply', task.id, false, 'What it gives is no plain JSON: ' + toText(error.message))
  }
}
const undoAll = async () => {
  phase = 'stopping'
  for (let undo = pop(undos); undo !== undefined; undo = pop(undos)) {
    try {
      await undo()
    } catch (error) {
      logger.error('An undo of the plugin failed:', error)
    }
  }
}
const servePlugin = async (body) => {
  if (phase !== 'new') throw new Failure('A plugin is served once.')
  phase = 'starting'
  const plugin = await body(harness, ctx)
  if (plugin !== undefined && plugin !== null) {
    if (typeof plugin !== 'object' || typeof plugin.apply !== 'function') throw new WrongType('The body returns nothing, or a plugin: { name, apply(ctx) { … } }.')
    const undo = await plugin.apply(ctx)
    if (typeof undo === 'function') push(undos, undo)
  }
  phase = 'serving'
  await host('declared', declared)
  for (;;) {
    const task = await host('next')
    if (task.kind === 'stop') return await undoAll()
    then(reply(task), nothing, nothing)
  }
}
defineProperty(globalThis, 'servePlugin', { value: servePlugin, configurable: true, writable: true, enumerable: false })
`

/** What a host half finds, in words: for whoever writes one. */
export const builtIns: readonly { readonly name: string; readonly signature: string; readonly description: string }[] = [
  { name: 'harness.handle', signature: 'handle(method: string, fn: (payload) => Json | Promise<Json>): void', description: 'Declare a method that the client half calls with host.call(method, payload).' },
  { name: 'harness.tool', signature: 'tool({ name, description, parameters, execute(args, exec) }): void', description: 'Declare a tool for the session. parameters: { <name>: { type, required?, description?, enum?, items?, properties?, additionalProperties? } }, type one of string, number, integer, boolean, null, array, object, json; an object states additionalProperties. execute gives JSON. ctx.tools.register does the same.' },
  { name: 'exec.tools.call', signature: 'call(name: string, args: object): Promise<Json>', description: 'Inside of execute(args, exec): call a tool of the session, judged and logged as any call. It gives the value of the tool, and throws when the call fails.' },
  { name: 'harness.emit', signature: 'emit(name: string, payload: Json): void', description: 'Tell the client half; it hears it with host.on(name, fn).' },
  { name: 'ctx.on', signature: 'on(event: string, fn: (facts) => void): void', description: 'Observe an event of the session; the provider events lists them with what they tell.' },
  { name: 'ctx.systemPrompt.section', signature: 'section({ name, text, order? }): void', description: 'Add a section to the system prompt of the session while the plugin runs. Only {{cwd}}, {{provider}} and {{model}} may stand in double braces; they are filled in.' },
  { name: 'ctx.inspect', signature: 'inspect(provider: string, method: string, input?): Promise<Json>', description: 'Ask an inspection provider of the host.' },
  { name: 'ctx.effect', signature: 'effect(undo: () => void | Promise<void>): void', description: 'Run when the plugin stops; the last one first.' },
  { name: 'ctx.logger', signature: 'debug | info | warn | error (...parts): void', description: 'Lines that cordis_inspect_self and /plugins show; console does the same.' },
  { name: 'return value', signature: '{ name: string, apply(ctx): void | undo }', description: 'Optional: a plugin whose apply is called with ctx; a function that it returns runs when the plugin stops.' },
]
