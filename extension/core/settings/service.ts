import { Emitter } from '../../base/emitter.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import { everyLayer } from '../kernel/plugin.ts'
import type { Dispatcher, Plugin } from '../kernel/plugin.ts'
import { masked, withPath } from './setting-value.ts'
import { SettingsError } from './settings.ts'
import type { SettingChange, SettingDescription, Settings, SettingsChangeSource, SettingSpec } from './settings.ts'
import { settingEntries, type SettingEntry } from './specs.ts'

interface Parts {
  readonly source: SettingsSource
  readonly logger: Logger
  /** Every setting that is watched for problems; `get` serves these and any other. */
  readonly entries?: readonly SettingEntry[]
  /** A bad value was found; called once for each bad value. */
  readonly onProblem?: (problem: SettingProblem) => void
  readonly onChange?: (key: string, next: unknown, previous: unknown, source: SettingsChangeSource) => void
  /** Something in a namespace was written, whatever became of its values. */
  readonly onDocument?: (namespace: string, revision: number) => void
}

export interface SettingProblem {
  readonly key: string
  /** Says what was expected, what stands there and what holds instead. */
  readonly message: string
}

/** Provides `settings` and emits `settings/updated`. */
export function settingsPlugin(parts: Omit<Parts, 'onChange' | 'onDocument'> & { readonly dispatch: Dispatcher }): Plugin {
  return {
    name: 'settings',
    apply(ctx) {
      const settings = createSettings({
        ...parts,
        onChange: (...change) => parts.dispatch.emit('settings/updated', everyLayer, change),
        onDocument: (...change) => parts.dispatch.emit('settings/document-updated', everyLayer, change),
      })
      ctx.effect(settings.dispose)
      ctx.provide('settings', settings)
    },
  }
}

/** Validated settings over a raw source. A bad value is reported once and the last good one holds on. */
export function createSettings({ source, logger, entries = settingEntries, onProblem, onChange, onDocument }: Parts): Settings & {
  readonly dispose: Undo
} {
  /** The last good value and the raw one it was read from. */
  const values = new Map<string, { readonly raw: unknown; readonly value: unknown }>()
  const problems = new Map<string, SettingProblem>()
  const revisions = new Map<string, number>()
  /** Keys this service is writing now. */
  const writing = new Set<string>()
  const changes = new Emitter<string>((error) => logger.error('A listener for settings failed.', { error: String(error) }))

  function read<T>(spec: SettingSpec<T>): T {
    const raw = rawOf(spec, source)
    const known = values.get(spec.key)
    if (known !== undefined && sameJson(known.raw, raw)) return known.value as T
    const value = parsed(spec, raw, known)
    values.set(spec.key, { raw, value })
    return value
  }

  function parsed<T>(spec: SettingSpec<T>, raw: unknown, known: { readonly value: unknown } | undefined): T {
    try {
      const value = raw === undefined ? spec.fallback : spec.parse(raw)
      problems.delete(spec.key)
      return value
    } catch (error) {
      const held = known === undefined ? personsOwn(spec) : (known.value as T)
      const reason = messageOf(error)
      const { secretPaths = [], expects = reason }: Partial<SettingEntry> = spec
      const shown = secretPaths.length === 0 ? JSON.stringify(held) : known === undefined ? 'the default' : 'what stood there before'
      const problem = { key: spec.key, message: `${reason} Until it is corrected, ${shown} holds.` }
      problems.set(spec.key, problem)
      logger.warn('A setting is not valid.', { key: spec.key, expected: expects, holds: masked(held, secretPaths) })
      onProblem?.(problem)
      return held
    }
  }

  /** What a bad value of a workspace must not take away. */
  function personsOwn<T>(spec: SettingSpec<T>): T {
    const { user } = source.inspect(spec.key)
    try {
      return user === undefined ? spec.fallback : spec.parse(user)
    } catch {
      // It is the bad value itself, which is told of; or a second one, told of when the first is gone.
      return spec.fallback
    }
  }

  for (const entry of entries) read(entry)
  const stop = source.onDidChange((changed) => {
    const touched = entries.filter(({ key }) => changed(key))
    for (const namespace of new Set(touched.map(({ key }) => namespaceOf(key)))) {
      const revision = revisionOf(namespace) + 1
      revisions.set(namespace, revision)
      onDocument?.(namespace, revision)
    }
    for (const entry of touched) {
      const before = { value: values.get(entry.key)?.value, problem: problems.get(entry.key) }
      const value = read(entry)
      const isOther = !sameJson(before.value, value)
      if (isOther) onChange?.(entry.key, value, before.value, writing.has(entry.key) ? 'update' : 'document')
      if (isOther || before.problem !== problems.get(entry.key)) changes.emit(entry.key)
    }
  })

  function revisionOf(namespace: string): number {
    return revisions.get(namespace) ?? 0
  }

  function describe(): readonly SettingDescription[] {
    return entries.map((entry) => {
      const { user, workspace } = source.inspect(entry.key)
      const isSpoken = entry.scope === 'window' && workspace !== undefined
      const problem = problems.get(entry.key)?.message
      return {
        key: entry.key,
        description: entry.description,
        scope: entry.scope,
        applies: entry.applies ?? 'live',
        fallback: entry.fallback,
        value: masked(read(entry), entry.secretPaths ?? []),
        setIn: isSpoken ? 'workspace' : user === undefined ? null : 'user',
        ...(problem !== undefined && { problem }),
      }
    })
  }

  async function update({ key, path = [], value, where = 'user', expectedRevision }: SettingChange): Promise<void> {
    const entry = entries.find((other) => other.key === key)
    if (entry === undefined) throw new SettingsError('UNKNOWN_SETTING', `There is no setting bosun.${key}. Look for its name on the settings page.`)
    if (where === 'workspace' && entry.scope !== 'window')
      throw new SettingsError('INVALID_SETTING', `bosun.${key} belongs to the person, not to a workspace. Set it in the user settings.`)
    const revision = revisionOf(namespaceOf(key))
    if (expectedRevision !== undefined && expectedRevision !== revision)
      throw new SettingsError('SETTINGS_CONFLICT', `The settings of ${namespaceOf(key)} were changed meanwhile. Look at them as they stand now, then try again.`)
    const next = path.length === 0 ? value : withPath(source.inspect(key)[where] ?? entry.fallback, path, value)
    try {
      if (next !== undefined) entry.parse(next)
    } catch (error) {
      throw new SettingsError('INVALID_SETTING', messageOf(error), { cause: error })
    }
    writing.add(key)
    try {
      await source.set(key, next, where)
    } finally {
      writing.delete(key)
    }
  }

  return {
    get: read,
    onDidChange: changes.listen,
    problems: () => [...problems.values()],
    describe,
    revision: revisionOf,
    update,
    dispose: stop,
  }
}

const namespaceOf = (key: string): string => key.split('.', 1)[0] ?? key

/** A workspace may not speak for settings that belong to the person or the machine. */
function rawOf(spec: SettingSpec<unknown>, source: SettingsSource): unknown {
  const scope = 'scope' in spec ? spec.scope : 'window'
  return scope === 'window' ? source.get(spec.key) : source.inspect(spec.key).user
}

const sameJson = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)
