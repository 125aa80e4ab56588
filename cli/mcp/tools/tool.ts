import { z } from "zod";
import type { Client, OperationId } from "../../../client/client.ts";

/** What a tool works with. */
export interface ToolContext {
  readonly client: Client;
  /** Files are relative to it, and only those below it are read. */
  readonly directory: string;
  /** Whether the server was started with `--write`: otherwise no tool runs code with props or accounts. */
  readonly mayWrite: boolean;
}

interface EffectTerms {
  /** Ends the description of the tool. */
  readonly sentence: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** What a call of a tool changes. All but `read` need `--write`. */
export const effects = {
  read: {
    sentence: "Changes nothing.",
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  trial: {
    sentence: "Stores and sends nothing, but runs the code: the requests that it makes itself are real.",
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  },
  create: {
    sentence: "Creates something new with each call, and changes nothing that exists.",
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  },
  set: {
    sentence: "Changes what exists; the same call again changes nothing more.",
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  },
  act: {
    sentence: "Has effects with each call, which cannot be undone.",
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
} as const satisfies Readonly<Record<string, EffectTerms>>;
export type Effect = keyof typeof effects;

/** An operation of the command line, as a tool of the Model Context Protocol. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** With `--write`. */
  readonly effect: Effect;
  /** Whether it is offered without `--write` too, where it then only reads. */
  readonly readsWithoutWrite?: boolean;
  /** Operations of the REST API that it may request. */
  readonly operations: readonly OperationId[];
  /** Its arguments; others are refused. */
  readonly input: z.ZodObject;
  /** The text of the answer. @param given arguments that `input` has accepted */
  readonly call: (context: ToolContext, given: Readonly<Record<string, unknown>>) => Promise<string>;
}

interface ToolDefinition<Shape extends z.ZodRawShape> extends Omit<Tool, "input" | "call"> {
  readonly input: Shape;
  readonly call: (context: ToolContext, given: z.output<z.ZodObject<Shape>>) => Promise<string>;
}

/** What a call changes in a server with or without `--write`. */
export const effectOf = ({ effect, readsWithoutWrite }: Pick<Tool, "effect" | "readsWithoutWrite">, mayWrite: boolean): Effect =>
  !mayWrite && readsWithoutWrite === true ? "read" : effect;

export function defineTool<Shape extends z.ZodRawShape>({ input, call, ...tool }: ToolDefinition<Shape>): Tool {
  return {
    ...tool,
    input: z.strictObject(input),
    call: (context, given) => call(context, given as z.output<z.ZodObject<Shape>>), // `input` has accepted them.
  };
}

const [maxNameLength, maxTextLength] = [300, 1_000];
const [defaultItems, maxItems] = [10, 100];

export const name = (what: string) => z.string().min(1).max(maxNameLength).describe(what);
export const text = (what: string) => z.string().min(1).max(maxTextLength).describe(what);
export const flag = (what: string) => z.boolean().optional().describe(what);
export const limit = z.number().int().min(1).max(maxItems).default(defaultItems).describe("At most this many, newest first");
export const after = name("`next` of the previous answer: the items after it").optional();
export const emitter = name("Id, name or unique beginning of the id of a source or workflow");
export const time = (what: string) => name(`${what}: ISO 8601, an age such as 2h or 7d, or epoch seconds`).optional();
export const event = z.unknown().optional().describe("The event, any JSON value");

/** An object with any fields. The API checks them, so all are kept, also `__proto__`. */
export const fields = (what: string) =>
  z
    .custom<Readonly<Record<string, unknown>>>((value) => typeof value === "object" && value !== null && !Array.isArray(value))
    .meta({ type: "object", description: what });
