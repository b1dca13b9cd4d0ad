import { HarnessError } from '../../base/harness-error.ts'

export type ExtensionApiErrorCode = 'UNSUPPORTED_VERSION' | 'UNKNOWN_EXTENSION' | 'INVALID_CONTRIBUTION' | 'NAME_TAKEN' | 'DISPOSED'

/** A fault of another extension in what it asks of Bosun, which names it; what such an extension knows as `BosunApiError`. */
export class ExtensionApiError extends HarnessError<ExtensionApiErrorCode> {
  readonly extensionId: string

  constructor(code: ExtensionApiErrorCode, extensionId: string, message: string, options?: ErrorOptions) {
    super(code, message, options)
    this.extensionId = extensionId
  }
}
