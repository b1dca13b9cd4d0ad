/** What the editor gives a page: a way to speak to its host, and a small store that survives a reload of the page. */
export interface VscodeApi {
  postMessage(message: unknown): void
  getState(): unknown
  setState(state: unknown): void
}

declare global {
  /** Callable once in the life of a page. Source: the editor's webview API. */
  function acquireVsCodeApi(): VscodeApi
}
