import type { LoadedSkill, ResourceBase } from './service.ts'

/** A skill in the words of the model: its name, where its files are, and what it says, verbatim. */
export function renderSkill({ name, resourceBase, content }: LoadedSkill): string {
  const hint = resourceBase === undefined ? [] : [resourceHint(resourceBase), '']
  return [`<skill name="${escaped(name)}">`, ...hint, content.replace(/\n$/, ''), '</skill>'].join('\n')
}

function resourceHint(base: ResourceBase): string {
  switch (base.kind) {
    case 'directory':
      return `Files that it names without a full path stand in ${escaped(base.path)}.`
    case 'url':
      return `What it names without a full address is found below ${escaped(base.url)}.`
    case 'opaque':
      return `Where its files are: ${escaped(base.description)}`
  }
}

/** A name or path must not pose as a line or a tag of the frame. */
const escaped = (text: string) =>
  text
    .replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .toWellFormed()
