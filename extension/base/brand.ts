declare const brand: unique symbol

/**
 * A string or number that must not be mixed with others of its kind.
 *
 * The owner of a brand mints it by a cast beside its definition; everybody else only carries it.
 */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
