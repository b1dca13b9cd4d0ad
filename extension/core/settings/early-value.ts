import type { Logger } from '../../capabilities/logger.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import type { SettingSpec } from './settings.ts'

/** A setting for a provider that is there before the settings service: the default where it is wrong, which is told where settings are. */
export function earlyValue<T>(spec: SettingSpec<T>, { settings, logger }: { readonly settings: Pick<SettingsSource, 'get'>; readonly logger: Logger }): T {
  const raw = settings.get(spec.key)
  if (raw === undefined) return spec.fallback
  try {
    return spec.parse(raw)
  } catch (error) {
    logger.warn('A setting is wrong, so its default holds.', { setting: spec.key, error: String(error) })
    return spec.fallback
  }
}
