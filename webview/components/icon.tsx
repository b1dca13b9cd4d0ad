/** One of the editor's icons. It is decoration: the name stands on the control around it. */
export const Icon = ({ name, spin = false }: { readonly name: string; readonly spin?: boolean }) => (
  <span class={`codicon codicon-${name}${spin ? ' codicon-modifier-spin' : ''}`} aria-hidden="true" />
)
