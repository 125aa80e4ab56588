import type { z } from "zod";

/** A response of the schema, with all fields read-only. */
export type Answered<Schema extends z.ZodType> = Read<z.output<Schema>>;

export type Read<T> = T extends readonly (infer Item)[]
  ? readonly Read<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]: Read<T[Field]> }
    : T;
