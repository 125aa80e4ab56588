import type { z } from "zod";

/** What is of the schema, as it is answered: only written, so that nothing in it needs to be changeable. */
export type Answered<Schema extends z.ZodType> = Read<z.output<Schema>>;

export type Read<T> = T extends readonly (infer Item)[]
  ? readonly Read<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]: Read<T[Field]> }
    : T;
