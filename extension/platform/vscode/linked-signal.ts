import type * as vscode from 'vscode'

/** A signal that fires with the editor's token; `dispose` once nobody listens any more. */
export function linkedSignal(token: vscode.CancellationToken): { readonly signal: AbortSignal; readonly dispose: () => void } {
  const controller = new AbortController()
  const onCancel = () => controller.abort(new DOMException('The editor stopped this.', 'AbortError'))
  if (token.isCancellationRequested) onCancel()
  const subscription = token.onCancellationRequested(onCancel)
  return { signal: controller.signal, dispose: () => subscription.dispose() }
}
