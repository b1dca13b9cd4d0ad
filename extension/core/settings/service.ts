import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import { everyLayer } from '../kernel/plugin.ts'
import type { Dispatcher, Plugin } from '../kernel/plugin.ts'
import type { Settings, SettingSpec } from './settings.ts'
import { settingEntries, type SettingEntry } from './specs.ts'

interface Parts {
  readonly source: SettingsSource
  readonly logger: Logger
  /** Every setting that is watched for problems; `get` serves these and any other. */
  readonly entries?: readonly SettingEntry[]
  /** A bad value was found; called once for each bad value. */
  readonly onProblem?: (problem: SettingProblem) => void
  readonly onChange?: (key: string, next: unknown, previous: unknown) => void
}

export interface SettingProblem {
  readonly key: string
  /** Says what was expected, what stands there and what holds instead. */
  readonly message: string
}

/** Provides `settings` and emits `settings/updated`. */
export function settingsPlugin(parts: Omit<Parts, 'onChange'> & { readonly dispatch: Dispatcher }): Plugin {
  return {
    name: 'settings',
    apply(ctx) {
      const settings = createSettings({
        ...parts,
        onChange: (key, next, previous) => parts.dispatch.emit('settings/updated', everyLayer, [key, next, previous]),
      })
      ctx.effect(settings.dispose)
      ctx.provide('settings', settings)
    },
  }
}

/** Validated settings over a raw source. A bad value is reported once and the last good one holds on. */
export function createSettings({ source, logger, entries = settingEntries, onProblem, onChange }: Parts): Settings & {
  readonly dispose: Undo
} {
  /** The last good value and the raw one it was read from. */
  const values = new Map<string, { readonly raw: unknown; readonly value: unknown }>()
  const problems = new Map<string, SettingProblem>()
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
      const held = known === undefined ? spec.fallback : (known.value as T)
      const reason = error instanceof Error ? error.message : String(error)
      const problem = { key: spec.key, message: `${reason} Until it is corrected, ${JSON.stringify(held)} holds.` }
      problems.set(spec.key, problem)
      logger.warn('A setting is not valid.', { key: spec.key })
      onProblem?.(problem)
      return held
    }
  }

  for (const entry of entries) read(entry)
  const stop = source.onDidChange((changed) => {
    for (const entry of entries) {
      if (!changed(entry.key)) continue
      const before = { value: values.get(entry.key)?.value, problem: problems.get(entry.key) }
      const value = read(entry)
      const isOther = !sameJson(before.value, value)
      if (isOther) onChange?.(entry.key, value, before.value)
      if (isOther || before.problem !== problems.get(entry.key)) changes.emit(entry.key)
    }
  })

  return { get: read, onDidChange: changes.listen, problems: () => [...problems.values()], dispose: stop }
}

/** A workspace may not speak for settings that belong to the person or the machine. */
function rawOf(spec: SettingSpec<unknown>, source: SettingsSource): unknown {
  const scope = 'scope' in spec ? spec.scope : 'window'
  return scope === 'window' ? source.get(spec.key) : source.inspect(spec.key).user
}

const sameJson = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)
