/** Takes back a registration. Idempotent: a second call does nothing. */
export type Undo = () => void

/** Takes back a registration and waits until the work behind it has really stopped. Idempotent. */
export type AsyncUndo = () => void | Promise<void>
