/** Characters that draw nothing or turn the order of others around, so that a text reads as another one than it is. */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** The text with what nobody would see in it written out, as `\u{202e}`. Line ends and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`)
}
