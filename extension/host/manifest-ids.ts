/** `@bosun` in the editor's own chat. */
export const PARTICIPANT = 'bosun.chat'
