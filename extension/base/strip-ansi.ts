/** CSI and OSC sequences (an OSC ends with BEL or ST), the short two-character escapes, and the ESC of a sequence that has no end. */
const sequences = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-Z\\^-~]|\u001b/g

/** `text` without terminal escape sequences, for readers that draw no colours. */
export function stripAnsi(text: string): string {
  return text.includes('\u001b') ? text.replace(sequences, '') : text
}
