/** Any value that JSON carries without loss. Arrays are dense, objects plain, numbers finite and never negative zero. */
export type Json = null | boolean | number | string | JsonArray | JsonObject
export type JsonArray = readonly Json[]
export type JsonObject = { readonly [key: string]: Json }
