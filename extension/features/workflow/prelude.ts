/**
 * What a script finds: `agent`, `parallel`, `pipeline`, `phase`, `log` and `args`.
 *
 * A failure that ends the run carries a mark that only this text can give, so a script can neither make one nor turn one into a slot
 * that stays empty. Whatever it uses of the language is kept before the script runs.
 * Source: agent tools specification 7.1.
 */
export const prelude = (argsText: string | undefined, maxItems: number): string => `
const { isArray } = Array, { defineProperty, keys: keysOf } = Object, { parse } = JSON, { apply } = Reflect
const bare = (method) => Function.prototype.call.bind(method)
const then = bare(Promise.prototype.then), add = bare(WeakSet.prototype.add), has = bare(WeakSet.prototype.has), trim = bare(String.prototype.trim)
const Pending = Promise, Failure = Error
const marked = new WeakSet()
let current, cancelled
const quiet = (promise) => void then(promise, undefined, () => undefined)
const marks = (error) => (add(marked, error), error)
const isFatal = (error) => typeof error === 'object' && error !== null && has(marked, error)
const fatal = (code, message) => {
  quiet(host('fatal', code, message))
  const error = new Failure(message)
  defineProperty(error, 'name', { value: 'WorkflowError' })
  defineProperty(error, 'code', { value: code })
  return marks(error)
}
const check = () => { if (cancelled !== undefined) throw cancelled }
// No spread: it goes by an iterator that the script may have replaced.
const sent = (name, args) => {
  try {
    return apply(host, undefined, args)
  } catch (error) {
    throw fatal('INVALID_ARGUMENT', 'What ' + name + '() was given cannot be sent: ' + error.message)
  }
}
const plainOptions = (options) => {
  if (typeof options !== 'object' || options === null || isArray(options)) return options === undefined ? {} : options
  const names = keysOf(options), plain = {}
  for (let at = 0; at < names.length; at++) if (options[names[at]] !== undefined) defineProperty(plain, names[at], { value: options[names[at]], enumerable: true })
  return plain
}
const each = (count, work) => new Pending((resolve, reject) => {
  const results = []
  let left = count
  for (let at = 0; at < count; at++) defineProperty(results, at, { value: null, enumerable: true, configurable: true, writable: true })
  if (count === 0) return resolve(results)
  for (let at = 0; at < count; at++) then(work(at), (value) => {
    results[at] = value
    if (--left === 0) resolve(results)
  }, reject)
})
const orNull = async (work) => {
  try {
    return await work()
  } catch (error) {
    if (isFatal(error)) throw error
    return null
  }
}
const checkList = (name, list) => {
  if (!isArray(list)) throw fatal('INVALID_ARGUMENT', name + '() takes a list first.')
  if (list.length > ${maxItems}) throw fatal('ITEM_CAP', name + '() was given ' + list.length + ' items, and takes ${maxItems} at most. Split the list.')
}
const checkFunctions = (name, list) => {
  for (let at = 0; at < list.length; at++) if (typeof list[at] !== 'function') throw fatal('INVALID_ARGUMENT', name + '() takes functions, and number ' + (at + 1) + ' is none. Write () => agent(...).')
}
const given = {
  async agent(prompt, options) {
    check()
    const asked = sent('agent', ['agent', prompt === undefined ? null : prompt, plainOptions(options), current === undefined ? null : current])
    try {
      return await asked
    } catch (error) {
      if (error.code === 'CANCELLED') cancelled = error
      throw marks(error)
    }
  },
  async parallel(thunks) {
    check()
    checkList('parallel', thunks)
    checkFunctions('parallel', thunks)
    return each(thunks.length, (at) => orNull(thunks[at]))
  },
  async pipeline(items, ...stages) {
    check()
    checkList('pipeline', items)
    if (stages.length === 0) throw fatal('INVALID_ARGUMENT', 'pipeline() takes at least one stage after the items.')
    checkFunctions('pipeline', stages)
    return each(items.length, (at) => orNull(async () => {
      let value = items[at]
      for (let stage = 0; stage < stages.length; stage++) value = await stages[stage](value, items[at], at)
      return value
    }))
  },
  phase(title) {
    check()
    if (typeof title !== 'string' || trim(title) === '') throw fatal('INVALID_ARGUMENT', 'phase() takes a title, a text that is not empty.')
    current = title
    quiet(sent('phase', ['phase', title]))
  },
  log(message) {
    check()
    if (typeof message !== 'string') throw fatal('INVALID_ARGUMENT', 'log() takes a text.')
    quiet(sent('log', ['log', message]))
  },
  args: ${argsText === undefined ? 'undefined' : `parse(${JSON.stringify(argsText)})`},
}
const names = keysOf(given)
for (let at = 0; at < names.length; at++) defineProperty(globalThis, names[at], { value: given[names[at]], enumerable: true })
`
