import * as vscode from 'vscode'

/** A file system of the editor whose files stand in a map by their paths; folders are there as far as a file is in them. */
export function memoryProvider(contents: Map<string, Uint8Array>): vscode.FileSystemProvider {
  const times = new Map<string, number>()
  const changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>()
  const isFolder = (path: string) => path === '/' || [...contents.keys()].some((each) => each.startsWith(`${path.replace(/\/$/, '')}/`))
  return {
    onDidChangeFile: changes.event,
    watch: () => new vscode.Disposable(() => {}),
    stat(uri) {
      const bytes = contents.get(uri.path)
      if (bytes === undefined && !isFolder(uri.path)) throw vscode.FileSystemError.FileNotFound(uri)
      return { type: bytes === undefined ? vscode.FileType.Directory : vscode.FileType.File, ctime: 0, mtime: times.get(uri.path) ?? 1, size: bytes?.length ?? 0 }
    },
    readFile(uri) {
      const bytes = contents.get(uri.path)
      if (bytes === undefined) throw isFolder(uri.path) ? vscode.FileSystemError.FileIsADirectory(uri) : vscode.FileSystemError.FileNotFound(uri)
      return bytes
    },
    writeFile(uri, bytes) {
      contents.set(uri.path, bytes)
      times.set(uri.path, Date.now())
      changes.fire([{ type: vscode.FileChangeType.Changed, uri }])
    },
    readDirectory(uri) {
      const lead = `${uri.path.replace(/\/$/, '')}/`
      const found = new Map<string, vscode.FileType>()
      for (const path of contents.keys()) {
        if (!path.startsWith(lead)) continue
        const [name = '', ...below] = path.slice(lead.length).split('/')
        found.set(name, below.length > 0 ? vscode.FileType.Directory : vscode.FileType.File)
      }
      return [...found]
    },
    createDirectory: () => {},
    delete: (uri) => void contents.delete(uri.path),
    rename: () => {},
  }
}
