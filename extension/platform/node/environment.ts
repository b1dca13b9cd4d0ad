import { isSecretName } from '../../base/secret-name.ts'

/** Names and values as a program gets them. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The environment for programs that a model starts: the host's without secrets and without what only the host's own
 * machinery understands (`ELECTRON_*` and `VSCODE_*` would turn an editor started from a shell into something else).
 *
 * Source: capability specification 0.8 "Environment".
 */
export function scrubEnvironment(environment: Environment): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !isSecretName(name) && !isHostName(name)) kept[name] = value
  }
  return kept
}

/** `changes` laid over `environment`; `null` deletes. On Windows names differ by more than case. */
export function mergeEnvironment(
  environment: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
  isCaseInsensitive = process.platform === 'win32',
): Record<string, string> {
  const merged = { ...environment }
  for (const [name, value] of Object.entries(changes)) {
    if (isCaseInsensitive) {
      for (const other of Object.keys(merged)) if (other.toLowerCase() === name.toLowerCase()) delete merged[other]
    }
    if (value === null) delete merged[name]
    else merged[name] = value
  }
  return merged
}

const isHostName = (name: string) => /^(BOSUN|ELECTRON|VSCODE)_/i.test(name)
