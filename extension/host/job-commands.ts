/** What menus and the palette can do with background jobs. */
export type JobCommand =
  | 'show-output'
  | 'open-port'
  | 'copy-address'
  | 'show-problems'
  | 'send-input'
  | 'wake-when'
  | 'pin'
  | 'unpin'
  | 'restart'
  | 'kill'
  | 'forget'
  | 'forget-ended'
