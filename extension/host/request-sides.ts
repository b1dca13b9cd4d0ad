/** Sides of the texts that are shown for what waits, so that their tabs are found when it waits no more, also by a window that was loaded anew. */
export function sidesOf(id: string): { readonly before: string; readonly proposed: string } {
  const name = id.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')
  return { before: `${name}-before`, proposed: `${name}-proposed` }
}
