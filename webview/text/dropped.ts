/** What was dropped or pasted: addresses of files of the workspace, and files from elsewhere. */
export interface Dropped {
  readonly uris: readonly string[]
  readonly images: readonly File[]
  /** Files from elsewhere that are no images; only their names are known. */
  readonly others: readonly string[]
}

/** Lists of the editor's own: explorer, tabs, search results. Source: VS Code `dnd.ts`. */
const uriListTypes = ['application/vnd.code.uri-list', 'text/uri-list']

/** The addresses win: what is in the workspace is named, not copied. */
export function droppedFrom(transfer: Pick<DataTransfer, 'getData' | 'files'>): Dropped {
  const uris = uriListTypes.map((type) => urisIn(transfer.getData(type))).find((list) => list.length > 0) ?? []
  if (uris.length > 0) return { uris, images: [], others: [] }
  const files = [...transfer.files]
  return { uris, images: files.filter(isImage), others: files.filter((file) => !isImage(file)).map(({ name }) => name) }
}

const urisIn = (list: string): readonly string[] => list.split(/\r?\n/).filter((line) => /^(?:file|vscode-remote):\/\//.test(line))
const isImage = ({ type }: File): boolean => type.startsWith('image/')

/** Whether a drag over the box brings anything; what it is can only be read once it is dropped. */
export const carriesFiles = ({ types }: Pick<DataTransfer, 'types'>): boolean => types.some((type) => type === 'Files' || type.toLowerCase() === 'codefiles' || uriListTypes.includes(type.toLowerCase()))
