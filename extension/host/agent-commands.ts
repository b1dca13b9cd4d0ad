/** What menus and the palette can do with agents that agents started. */
export type AgentCommand = 'open' | 'interrupt' | 'message' | 'take-over' | 'stop-job' | 'changes' | 'restore' | 'review-work' | 'copy-id' | 'limits'
