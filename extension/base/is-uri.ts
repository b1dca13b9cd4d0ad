/** A place that is named by its scheme, as in a virtual folder, rather than a path on this machine's disk. */
export const isUri = (path: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(path)
