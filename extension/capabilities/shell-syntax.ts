/** Reads the grammar of shell commands, so that policy can judge a command part by part. */
export interface ShellSyntax {
  /**
   * The whole command as a tree, or null when it is not one well-formed command: then nobody may claim to know what it does.
   * Errors: rejects when the grammar cannot be loaded.
   */
  parseBash(command: string): Promise<ShellNode | null>
}

/** A node of the tree, plain data. `type` as in the grammar of tree-sitter-bash; unnamed nodes are left out. */
export interface ShellNode {
  readonly type: string
  readonly text: string
  readonly children: readonly ShellNode[]
}
