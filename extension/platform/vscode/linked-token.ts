import * as vscode from 'vscode'

/** A token of the editor that is cancelled with the signal, or by `cancel`; `dispose` once nobody listens any more. */
export function linkedToken(signal: AbortSignal): { readonly token: vscode.CancellationToken; readonly cancel: () => void; readonly dispose: () => void } {
  const source = new vscode.CancellationTokenSource()
  const cancel = () => source.cancel()
  if (signal.aborted) cancel()
  else signal.addEventListener('abort', cancel, { once: true })
  return {
    token: source.token,
    cancel,
    dispose() {
      signal.removeEventListener('abort', cancel)
      source.dispose()
    },
  }
}
