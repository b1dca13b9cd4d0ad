/** A number of runs or steps of a costly search for surprises: in full where `CI` is set, a part of it at one's desk, whose checks take under a minute. */
export const runCount = ({ full, desk }: { readonly full: number; readonly desk: number }): number => (process.env['CI'] ? full : desk)
