import { MAX_MESSAGE_CHARS, MAX_PARTS, PRINT } from './isolate-protocol.ts'

/**
 * The first script of every context: how values leave it and come in, how calls wait, what `console` does.
 *
 * It is text and no function of ours, because a bundler would write its own helpers into one. Whatever it uses of the language it keeps before
 * the program runs, so that a program which replaces built-in functions only harms itself.
 *
 * Shape: a function `(send, print, end, atOnce, maxChars)` that gives `{ host, settle, start }`.
 * `send(call, name, text)` passes a call on; `end(kind, text)` says how the program ended: `value`, `nothing`, `loss` or `thrown`.
 */
export const bootstrap = `(function (send, print, end, atOnce, maxChars) {
'use strict'
const { getPrototypeOf, getOwnPropertyDescriptor: getDescriptor, hasOwn, keys: keysOf, is, defineProperty, prototype: objectPrototype } = Object
const { ownKeys } = Reflect
const { isArray, prototype: arrayPrototype } = Array
const { stringify, parse } = JSON
const { isFinite } = Number
const toText = String
const bare = (method) => Function.prototype.call.bind(method)
const then = bare(Promise.prototype.then)
const has = bare(Map.prototype.has), get = bare(Map.prototype.get), set = bare(Map.prototype.set), remove = bare(Map.prototype.delete)
const charCode = bare(String.prototype.charCodeAt), slice = bare(String.prototype.slice)
const Pending = Promise, Failure = Error, WrongType = TypeError
const errorPrototype = Error.prototype
const isPrototypeOf = bare(Object.prototype.isPrototypeOf)
const mapPrototype = Map.prototype, setPrototype = Set.prototype, datePrototype = Date.prototype, expressionPrototype = RegExp.prototype, viewPrototype = getPrototypeOf(Uint8Array.prototype)
const eachOfMap = bare(mapPrototype.forEach), eachOfSet = bare(setPrototype.forEach), timeOf = bare(datePrototype.getTime), isoText = bare(datePrototype.toISOString), expressionText = bare(expressionPrototype.toString)
const mapSize = bare(getDescriptor(mapPrototype, 'size').get), setSize = bare(getDescriptor(setPrototype, 'size').get), viewLength = bare(getDescriptor(viewPrototype, 'length').get)
const { isView } = ArrayBuffer

const LOSS = {}
let loss = ''
const lose = (at, problem) => {
  loss = placeOf(at) + ' ' + problem
  throw LOSS
}
const isPlainName = (name) => {
  for (let index = 0; index < name.length; index++) {
    const code = charCode(name, index)
    const isLetter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 36
    if (!isLetter && !(index > 0 && code >= 48 && code <= 57)) return false
  }
  return name !== ''
}
const placeOf = (at) => {
  let place = ''
  let count = 0
  for (let node = at; node !== null; node = node.up) {
    if (node.up === null) place = node.key + place
    else if (count++ < 8) place = (typeof node.key === 'number' ? '[' + node.key + ']' : isPlainName(node.key) ? '.' + node.key : '[' + stringify(node.key) + ']') + place
    else if (count === 10) place = '\\u2026' + place
  }
  return place
}

let parts = 0
// In three sizes, since each addition to a text copies it.
let text = '', block = '', piece = ''
const put = (part) => {
  piece += part
  if (piece.length < 512) return
  block += piece
  piece = ''
  if (text.length + block.length > maxChars) lose({ key: 'it', up: null }, 'is larger than this program may return or send')
  if (block.length < 32768) return
  text += block
  block = ''
}
const written = () => {
  const whole = text + block + piece
  if (whole.length > maxChars) lose({ key: 'it', up: null }, 'is larger than this program may return or send')
  return whole
}
const write = (value, at, depth) => {
  if (++parts > ${MAX_PARTS}) lose({ key: 'it', up: null }, 'has more than ${MAX_PARTS} parts')
  const type = typeof value
  if (type === 'string') {
    if (value.length > maxChars) return put(value)
    return put(stringify(value))
  }
  if (type === 'boolean' || value === null) return put('' + value)
  if (type === 'number') {
    if (!isFinite(value)) lose(at, 'is ' + value)
    return put(is(value, -0) ? '0' : '' + value)
  }
  if (type !== 'object') lose(at, value === undefined ? 'is undefined' : 'is a ' + type)
  if (depth > 500) lose(at, 'is nested deeper than 500 levels')
  for (let node = at.up; node !== null; node = node.up) if (node.value === value) lose(at, 'contains itself')
  if (isError(value)) return put(errorFields(value))
  at.value = value
  const proto = getPrototypeOf(value)
  if (isArray(value)) {
    if (proto !== arrayPrototype) lose(at, 'is an array of its own kind')
    const size = value.length
    const names = keysOf(value)
    if (names.length < size) lose(at, 'is an array with holes')
    if (names.length > size || ownKeys(value).length !== size + 1) lose(at, 'is an array with extra properties')
    put('[')
    for (let index = 0; index < size; index++) {
      if (index > 0) put(',')
      write(value[index], { key: index, up: at, value: null }, depth + 1)
    }
    return put(']')
  }
  if (proto !== objectPrototype && proto !== null) lose(at, 'is an object of its own kind, no plain one')
  const names = keysOf(value)
  if (ownKeys(value).length !== names.length) lose(at, 'has symbol or hidden keys')
  put('{')
  for (let index = 0; index < names.length; index++) {
    const name = names[index]
    put((index > 0 ? ',' : '') + stringify(name) + ':')
    write(value[name], { key: name, up: at, value: null }, depth + 1)
  }
  put('}')
}
// An error is no plain object, and what it says is wanted all the same.
const errorFields = (error) => {
  const { name, toolName, message } = factsOf(error)
  return '{"name":' + stringify(name) + (toolName === null ? '' : ',"toolName":' + stringify(toolName)) + ',"message":' + stringify(message) + '}'
}
// An accessor of the value may print or call in the middle of it.
const jsonText = (value, root) => {
  const before = text, blockBefore = block, pieceBefore = piece, partsBefore = parts
  text = block = piece = ''
  parts = 0
  try {
    write(value, { key: root, up: null, value: null }, 0)
    return written()
  } catch (error) {
    if (error === LOSS) return null
    throw error
  } finally {
    text = before
    block = blockBefore
    piece = pieceBefore
    parts = partsBefore
  }
}
const lossText = () => loss + '. Pass only null, booleans, strings, finite numbers, plain arrays and plain objects.'

const words = (value) => {
  try {
    return slice(toText(value), 0, ${MAX_MESSAGE_CHARS})
  } catch (error) {
    return 'a value without text'
  }
}
const isError = (value) => typeof value === 'object' && value !== null && isPrototypeOf(errorPrototype, value)
// Part by part, because an array might have been given a way to write itself.
const fields = (name, message, stack) => '[' + stringify(name) + ',' + stringify(message) + ',' + stringify(stack) + ']'
const factsOf = (thrown) => {
  let name = 'Error', toolName = null, message = ''
  try { name = words(thrown.name) } catch (error) { message = words(error) }
  try { if (typeof thrown.toolName === 'string') toolName = words(thrown.toolName) } catch (error) { message = words(error) }
  try { message = words(thrown.message) } catch (error) { message = words(error) }
  return { name, toolName, message }
}
// Of a call that failed one wants to know which it was.
const kindOf = ({ name, toolName }) => toolName === null ? name : name + ' of ' + toolName
const describe = (thrown, explain) => {
  if (!isError(thrown)) {
    const text = words(thrown)
    // What an object says of itself where nobody gave it words is nothing.
    return fields('', text === '[object Object]' && typeof thrown === 'object' ? slice(line([thrown]), 0, ${MAX_MESSAGE_CHARS}) : text, '')
  }
  const facts = factsOf(thrown)
  let stack = '', more = ''
  try { stack = words(thrown.stack) } catch (error) { stack = '' }
  try { if (typeof explain === 'function') more = words(explain(facts.name, facts.message)) } catch (error) { more = '' }
  return fields(kindOf(facts), facts.message + more, stack)
}

const pending = new Map()
let calls = 0
let open = 0
let first = null
let last = null
const host = (name, ...args) => {
  const sent = jsonText(args, 'arguments')
  if (sent === null) throw new WrongType(lossText())
  return new Pending((resolve, reject) => {
    const call = { id: ++calls, name, text: sent, next: null }
    set(pending, call.id, { resolve, reject })
    if (open < atOnce) return pass(call)
    if (last === null) first = call
    else last.next = call
    last = call
  })
}
const pass = (call) => {
  open++
  send(call.id, call.name, call.text)
}
const settle = (id, ok, answer) => {
  if (!has(pending, id)) return
  const { resolve, reject } = get(pending, id)
  remove(pending, id)
  open--
  if (first !== null) {
    const call = first
    first = call.next
    if (first === null) last = null
    pass(call)
  }
  const value = parse(answer)
  if (ok) return resolve(value)
  const error = new Failure(value.message)
  for (const key of ['name', 'code']) if (value[key] !== undefined) defineProperty(error, key, { value: value[key], configurable: true, writable: true, enumerable: false })
  reject(error)
}

const start = (program, explain) => {
  const finish = (value) => {
    try {
      if (value === undefined) return end('nothing', 'null')
      const result = jsonText(value, 'result')
      end(result === null ? 'loss' : 'value', result === null ? lossText() : result)
    } catch (error) {
      end('thrown', describe(error, explain))
    }
  }
  then(program(), finish, (error) => end('thrown', describe(error, explain)))
}

// How a value is printed, by the rule at CodeProgram.print. It reads no accessor, so that printing runs nothing of the program but what a proxy traps.
let printed = 0
const quoted = (value) => value.length > ${PRINT.stringChars} ? stringify(slice(value, 0, ${PRINT.stringChars})) + '\u2026 ' + (value.length - ${PRINT.stringChars}) + ' more characters' : stringify(value)
const nameOf = (value) => {
  for (let at = getPrototypeOf(value), count = 0; at !== null && count < 8; at = getPrototypeOf(at), count++) {
    const made = getDescriptor(at, 'constructor')
    const name = made !== undefined && typeof made.value === 'function' ? getDescriptor(made.value, 'name') : undefined
    if (name !== undefined && typeof name.value === 'string' && name.value !== '') return slice(name.value, 0, 100)
  }
  return 'null prototype'
}
const showAll = (open, close, size, each) => {
  let out = '', shown = 0
  const add = (part) => {
    out += (shown > 0 ? ',' : '') + part
    shown++
  }
  const cap = size > ${PRINT.items} ? ${PRINT.items} : size
  each(add, () => shown < cap && printed < ${PRINT.parts})
  if (shown < size) out += (shown > 0 ? ',' : '') + '\u2026 ' + (size - shown) + ' more'
  return open + out + close
}
const slotOf = (value, key, up, depth) => {
  const slot = getDescriptor(value, key)
  if (slot === undefined) return 'empty'
  if (hasOwn(slot, 'value')) return show(slot.value, up, depth)
  return slot.get === undefined ? '[Setter]' : slot.set === undefined ? '[Getter]' : '[Getter/Setter]'
}
const show = (value, up, depth) => {
  printed++
  const type = typeof value
  if (type === 'string') return quoted(value)
  if (type === 'number') return is(value, -0) ? '-0' : '' + value
  if (type === 'bigint') return toText(value) + 'n'
  if (type === 'symbol') return slice(toText(value), 0, 200)
  if (type === 'function') {
    const name = getDescriptor(value, 'name')
    return name !== undefined && typeof name.value === 'string' && name.value !== '' ? '[Function ' + slice(name.value, 0, 100) + ']' : '[Function]'
  }
  if (type !== 'object' || value === null) return '' + value
  for (let node = up; node !== null; node = node.up) if (node.value === value) return '[Circular]'
  try {
    return showObject(value, { value, up }, depth)
  } catch (error) {
    return '[Throws]'
  }
}
const showObject = (value, at, depth) => {
  if (isError(value)) return errorText(value)
  const isList = isArray(value)
  const name = isList && getPrototypeOf(value) === arrayPrototype ? '' : getPrototypeOf(value) === objectPrototype ? '' : nameOf(value)
  if (depth >= ${PRINT.depth}) return '[' + (isList ? 'Array' : name === '' || name === 'null prototype' ? 'Object' : name) + ']'
  const before = name === '' ? '' : name === 'null prototype' ? '[null prototype] ' : name + ' '
  if (isList) {
    const size = value.length
    return showAll(before + '[', ']', size, (add, goesOn) => { for (let index = 0; goesOn(); index++) add(slotOf(value, index, at, depth + 1)) })
  }
  if (isPrototypeOf(mapPrototype, value)) {
    const size = mapSize(value)
    return showAll('Map(' + size + ') {', '}', size, (add, goesOn) => eachOfMap(value, (item, key) => { if (goesOn()) add(show(key, at, depth + 1) + ' => ' + show(item, at, depth + 1)) }))
  }
  if (isPrototypeOf(setPrototype, value)) {
    const size = setSize(value)
    return showAll('Set(' + size + ') {', '}', size, (add, goesOn) => eachOfSet(value, (item) => { if (goesOn()) add(show(item, at, depth + 1)) }))
  }
  if (isPrototypeOf(datePrototype, value)) return 'Date ' + (isFinite(timeOf(value)) ? isoText(value) : 'Invalid')
  if (isPrototypeOf(expressionPrototype, value)) return slice(expressionText(value), 0, 1000)
  if (isView(value)) {
    const size = isPrototypeOf(viewPrototype, value) ? viewLength(value) : 0
    return showAll(name + '(' + size + ') [', ']', size, (add, goesOn) => { for (let index = 0; goesOn(); index++) add(show(value[index], at, depth + 1)) })
  }
  const names = keysOf(value)
  return showAll(before + '{', '}', names.length, (add, goesOn) => { for (let index = 0; goesOn(); index++) add(quoted(names[index]) + ':' + slotOf(value, names[index], at, depth + 1)) })
}
const errorText = (value) => {
  const facts = factsOf(value)
  return facts.message === '' ? kindOf(facts) : kindOf(facts) + ': ' + facts.message
}
const line = (args) => {
  printed = 0
  let out = ''
  for (let index = 0; index < args.length; index++) out += (index > 0 ? ' ' : '') + (typeof args[index] === 'string' ? args[index] : show(args[index], null, 0))
  return out
}
const console = {}
for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = (...args) => void print(level, line(args))
defineProperty(globalThis, 'console', { value: console, configurable: true, writable: true, enumerable: false })
return { host, settle, start }
})`
