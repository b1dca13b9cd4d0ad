const PREFIX = 'extension:'

/** The group of the tools that another extension of the editor has: the name of the plugin they come from. */
export const groupOfExtension = (extensionId: string): string => `${PREFIX}${extensionId}`

/** Whose a group of tools is: the id of another extension; null for our own groups and those of servers. */
export const extensionOfGroup = (group: string | undefined): string | null => (group?.startsWith(PREFIX) === true ? group.slice(PREFIX.length) : null)

/** Whether a preset that takes what these extensions add, or all, or none, takes that of one. The editor does not tell ids apart by case. */
export const takesExtension = (extensionId: string, extensions: boolean | readonly string[] | undefined): boolean =>
  typeof extensions === 'object' ? extensions.some((id) => id.toLowerCase() === extensionId.toLowerCase()) : extensions === true
