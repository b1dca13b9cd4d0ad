/** HTTP as the host offers it, so that proxies and certificates of the system apply. The same shape as the platform's `fetch`. */
export interface Http {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
}
