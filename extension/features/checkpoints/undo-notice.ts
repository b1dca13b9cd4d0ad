import { nameOf } from '../../base/folders.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type { UndoneFile } from './reviews.ts'

/** Files that are named; more are counted. */
const MAX_NAMED_FILES = 50

/** Tells the model what the person took back, so that it neither builds on it nor does it again. */
export function undoNotice(id: string, files: readonly UndoneFile[]): UserMessage {
  const lines = files.slice(0, MAX_NAMED_FILES).map(({ path, what }) => `- ${path}: ${words[what]}`)
  const more = files.length - lines.length
  return noticeMessage({
    id,
    plugin: 'review',
    text: [
      'The person undid changes of yours:',
      ...lines,
      ...(more > 0 ? [`- and ${more} more files`] : []),
      'What they typed themselves since is still there. Read a file again before you change it, and do not repeat what they undid unless they ask for it.',
    ].join('\n'),
    summary: files.length === 1 ? `You undid changes to ${nameOf(files[0]?.path ?? '')}` : `You undid changes to ${files.length} files`,
  })
}

const words: Readonly<Record<UndoneFile['what'], string>> = {
  gone: 'the file that you made is gone',
  back: 'the file that you deleted is back',
  whole: 'your change is taken back',
  part: 'a part of your change is taken back',
  'of-agents': 'what agents that you started changed is taken back',
}
