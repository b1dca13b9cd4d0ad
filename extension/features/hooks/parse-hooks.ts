import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import { compileMatcher } from './match.ts'
import { hookPoints, pointsOf, type Hook, type HookDialect, type HookPoint, type SkippedHook } from './hook.ts'

const maxHooks = 200

/**
 * The hooks of one configuration: `{"hooks": {"PreToolUse": [{"matcher": "bash", "hooks": [{"type": "command", "command": "…"}]}]}}`.
 *
 * Shape:  hooks in the order in which they run; what does not run is listed with its reason. A matcher that is no expression drops
 *         the whole configuration, since its author meant it to hold somewhere.
 * Errors: none; text that is no configuration is skipped as a whole.
 */
export function parseHooks(text: string, { path, dialect }: { readonly path: string; readonly dialect: HookDialect }): { readonly hooks: readonly Hook[]; readonly skipped: readonly SkippedHook[] } {
  const skip = (at: string, reason: string): SkippedHook => ({ path, at, reason })
  let content: Json
  try {
    content = JSON.parse(text) as Json
  } catch (error) {
    return { hooks: [], skipped: [skip('', `It is not JSON: ${messageOf(error)}`)] }
  }
  if (!isJsonObject(content)) return { hooks: [], skipped: [skip('', 'It is no JSON object.')] }
  if (content['disableAllHooks'] === true) return { hooks: [], skipped: [skip('', 'It turns all hooks off (disableAllHooks).')] }
  const byPoint = content['hooks']
  if (byPoint === undefined) return { hooks: [], skipped: [] }
  if (!isJsonObject(byPoint)) return { hooks: [], skipped: [skip('hooks', 'It is no object of events.')] }

  const hooks: Hook[] = []
  const skipped: SkippedHook[] = []
  for (const [name, groups] of Object.entries(byPoint)) {
    const point = hookPoints.find((known) => known === name)
    if (point === undefined || !pointsOf[dialect].includes(point)) {
      skipped.push(skip(name, 'Bosun has no such event.'))
      continue
    }
    if (!Array.isArray(groups)) {
      skipped.push(skip(name, 'It is no list.'))
      continue
    }
    for (const [index, group] of groups.entries()) readGroup(group, `${name}[${index}]`, point)
  }
  const bad = hooks.find(({ matcher }) => compileMatcher(dialect, matcher) === null)
  if (bad) return { hooks: [], skipped: [...skipped, skip('', `The matcher ${JSON.stringify(bad.matcher)} is no regular expression, so none of its hooks runs. Correct it.`)] }
  if (hooks.length > maxHooks) return { hooks: hooks.slice(0, maxHooks), skipped: [...skipped, skip('', `It holds more than ${maxHooks} hooks; the rest does not run.`)] }
  return { hooks, skipped }

  function readGroup(group: Json, at: string, point: HookPoint): void {
    if (!isJsonObject(group)) return void skipped.push(skip(at, 'It is no object.'))
    const matcher = group['matcher'] ?? ''
    if (typeof matcher !== 'string') return void skipped.push(skip(at, 'Its matcher is no text.'))
    const handlers = group['hooks']
    if (!Array.isArray(handlers)) return void skipped.push(skip(at, 'It has no list of hooks.'))
    for (const [index, handler] of handlers.entries()) {
      const problem = problemOf(handler)
      const where = `${at}.hooks[${index}]`
      if (problem !== null) skipped.push(skip(where, problem))
      else hooks.push(hookFrom(handler as JsonObject, point, matcher))
    }
  }

  function hookFrom(handler: JsonObject, point: HookPoint, matcher: string): Hook {
    const { command, timeout } = handler
    return {
      id: `${path}#${point}.${hooks.filter((other) => other.point === point).length}`,
      dialect,
      point,
      matcher,
      command: typeof command === 'string' ? command : '',
      // Seconds in every dialect.
      ...(typeof timeout === 'number' && timeout > 0 && { timeoutMs: Math.min(timeout * 1000, 2_147_483_647) }),
      path,
    }
  }
}

function problemOf(handler: Json): string | null {
  if (!isJsonObject(handler)) return 'It is no object.'
  const { type, command } = handler
  if (type !== 'command') return `Only commands run here; it is of the type ${JSON.stringify(type ?? null)}.`
  if (Array.isArray(command)) return 'Only a command as one line of text runs here; it is a list.'
  return typeof command === 'string' && command.trim() !== '' ? null : 'It has no command.'
}
