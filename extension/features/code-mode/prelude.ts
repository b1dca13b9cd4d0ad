/**
 * What a program finds: `tools`, with one method a tool, and `ToolCallError`.
 *
 * A failed call is thrown with three fields and nothing else: no code, no place in our own text. Whatever it uses of the language is kept
 * before the program runs, and `tools` cannot be changed, so that a program which alters its world harms itself alone.
 * Source: runtime specification 7.2, 7.3.
 */
export const prelude = (names: readonly string[]): string => `
const { create, defineProperty, freeze, hasOwn } = Object
const bare = (method) => Function.prototype.call.bind(method)
const replace = bare(String.prototype.replace), lower = bare(String.prototype.toLowerCase), slice = bare(String.prototype.slice), indexOf = bare(String.prototype.indexOf), quoted = JSON.stringify, expression = /[^a-z0-9]/g, then = bare(Promise.prototype.then), Pending = Promise
// No error of the machine's own kind: to those it adds where they were made, each time they are thrown.
function ToolCallError(toolName, message) {
  const fields = { name: 'ToolCallError', toolName, message }
  const error = create(ToolCallError.prototype)
  for (const field of ['name', 'toolName', 'message']) defineProperty(error, field, { value: fields[field], enumerable: true })
  return error
}
ToolCallError.prototype = create(Error.prototype, { constructor: { value: ToolCallError } })
const rejected = bare(Promise.reject)
const call = (name, args) => {
  let sent
  try {
    sent = host(name, args === undefined ? {} : args)
  } catch (error) {
    return rejected(Pending, new ToolCallError(name, replace(error.message, 'arguments[0]', 'arguments')))
  }
  // One promise for a call: programs make thousands.
  return then(sent, undefined, (error) => {
    throw new ToolCallError(name, error.message)
  })
}
const names = ${JSON.stringify(names)}
const methods = create(null)
for (const name of names) defineProperty(methods, name, { value: (args) => call(name, args), enumerable: true })
freeze(methods)
// What is not there is undefined, as of any object; but a program that calls it is told of which tool that was.
let missing
const tools = new Proxy(methods, freeze({ __proto__: null, get(_, name) {
  if (hasOwn(methods, name)) return methods[name]
  if (typeof name === 'string' && name !== 'then') missing = name
  return undefined
} }))
for (const [name, value] of [['tools', tools], ['ToolCallError', ToolCallError]]) defineProperty(globalThis, name, { value, enumerable: true })
const plain = (name) => replace(lower(name), expression, '')
const distance = (left, right) => {
  const row = []
  for (let at = 0; at <= right.length; at++) row[at] = at
  for (let up = 1; up <= left.length; up++) {
    let corner = row[0]
    row[0] = up
    for (let at = 1; at <= right.length; at++) {
      const above = row[at]
      const least = corner + (left[up - 1] === right[at - 1] ? 0 : 1)
      row[at] = least <= above && least <= row[at - 1] ? least : 1 + (above < row[at - 1] ? above : row[at - 1])
      corner = above
    }
  }
  return row[right.length]
}
/** How far a name is from what was wanted: the same but for its writing, one within the other, letters apart. */
const farness = (name, wanted) => name === wanted ? 0 : wanted.length > 2 && (indexOf(name, wanted) >= 0 || indexOf(wanted, name) >= 0) ? 1 : 1 + distance(name, wanted)
const near = (wanted) => {
  const far = []
  for (let at = 0; at < names.length; at++) far[at] = farness(plain(names[at]), wanted)
  let found = '', told = 0
  for (let reach = 0; reach <= 3; reach++) for (let at = 0; at < names.length && told < 3; at++) {
    if (far[at] !== reach) continue
    found += (told === 0 ? '' : ', ') + names[at]
    told++
  }
  return found
}
return (name, message) => {
  if (name !== 'TypeError' || message !== 'not a function' || missing === undefined) return ''
  const wanted = slice(missing, 0, 64)
  const found = near(plain(wanted))
  return ': there is no tool named ' + quoted(wanted) + '. ' + (found === '' ? 'The names of all are Object.keys(tools)' : 'Near to it: ' + found)
}
`
