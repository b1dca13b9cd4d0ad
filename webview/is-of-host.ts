/**
 * The editor's own page around this one, which speaks for the host, has this page's origin. The frames of plugins can post here too; they
 * have no origin and are no host. Not by its window: the editor takes `parent` away from its pages.
 */
export const isOfHost = ({ origin }: Pick<MessageEvent, 'origin'>): boolean => origin === window.origin
