/** Tools that query sessions: no preset names them, the setting `history.tools` puts them into all that take them. Source: design 6.1 "Default preset". */
const names: ReadonlySet<string> = new Set(['session_search', 'session_event_search', 'session_trace', 'session_event_trace', 'session_event_read'])

export const isSessionTool = (name: string): boolean => names.has(name)
