import type { z } from "zod";
import type { Asked, Handle } from "../http/request/call.ts";
import type { Method } from "../http/routing/route-table.ts";
import type { Read } from "../resources/response.ts";
import type { Operations } from "./operation.ts";

/**
 * The table of routes that serves exactly these operations: each path with each method, and handlers whose `data` is of the schema of the
 * operation's answer. One that is missing, or answers something else, does not compile.
 */
export type RoutesOf<All extends Operations, Request extends Asked> = {
  readonly [Path in PathOf<keyof All>]: {
    readonly [Key in keyof All as MethodAt<Key, Path>]: Handle<Request, DataOf<All[Key]>>;
  };
};

type PathOf<Key> = Key extends `${Method} ${infer Path}` ? Path : never;
type MethodAt<Key, Path extends string> = Key extends `${infer M extends Method} ${Path}` ? M : never;

/** Never: it answers no `data`, only that it is done. */
type DataOf<Operation> = Operation extends { readonly answers: infer Answers } ? Read<DataOfAnswer<Answers[keyof Answers]>> : never;
type DataOfAnswer<Answer> = Answer extends z.ZodType<{ data: infer Data }> ? Data : never;
