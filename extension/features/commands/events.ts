/** What a person said about the session with `/feedback`; for people who read the log. Source: runtime specification 11.9. */
export interface FeedbackEvents {
  'feedback/record': { readonly text: string }
}

declare module '../../core/log/event.ts' {
  interface EventMap extends FeedbackEvents {}
}
