import { z } from "zod";
import { componentDefinition } from "../../../domain/component/definition-schema.ts";
import { type HttpResponse, type LogRecord, maxPieceBytes, type RunError } from "../../../domain/run-products.ts";
import { maxTimestampMs } from "../../../domain/clock.ts";
import { sendKinds } from "../../../domain/workflow/run-state.ts";
import { parseSendArgument } from "../../../domain/workflow/send-arguments.ts";
import { storeOperation } from "../../../domain/data-store/schemas.ts";
import { fileLimits, totalBytes } from "../../../domain/files/run-files.ts";
import { fileChanges, partName } from "../../../domain/files/schemas.ts";
import { isJson } from "../message-size.ts";
import { limits } from "../limits.ts";
import { maxPropLength } from "../operations/store-call.ts";
import { maxNameLength, nameQueries } from "../operations/network/network.ts";
import type { ActionProducts, ActionSend, Emit, Execution, FlowRequest, Inspection } from "../port.ts";
import { type Frame, parseFields } from "../frames.ts";
import { base64Length, type FileRequest, type FromChild } from "./protocol.ts";

/**
 * Messages of children, checked: native code in a child may send anything. A child has already checked what user code gave
 * it (`isolate/products.ts`), so honest children never meet these limits. The sizes of all texts together are bounded by the frame.
 */
/** JSON texts of one message, characters: products, and beside them the result of a source and its db. Each is parsed here. */
const maxJsonCharacters = limits.productBytes + 2 * 2 ** 20;
let charactersLeft = 0;

function takeCharacters(count: number): boolean {
  charactersLeft -= count;
  return charactersLeft >= 0;
}

const milliseconds = z.number().min(0).max(maxTimestampMs);
const timestamp = z.number().min(-maxTimestampMs).max(maxTimestampMs);
const text = (max: number) => z.string().max(max);
const jsonText = z.string().refine((value) => isJsonText(value), "must be JSON text, not too large");
/** Unlike `z.record`, it keeps a key `__proto__`. */
const recordOf = <Value>(isValue: (value: unknown) => value is Value) =>
  z.custom<Readonly<Record<string, Value>>>((value) => isPlain(value) && Object.values(value).every(isValue));

const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isJsonText = (value: unknown): value is string => typeof value === "string" && takeCharacters(value.length) && isJson(value);
const isChange = (value: unknown): value is string | null => value === null || isJsonText(value);
const isHeader = (value: unknown): value is string | readonly string[] =>
  typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string"));
const isDbChanges = (value: unknown): value is Record<string, string | null> => isPlain(value) && Object.values(value).every(isChange);

const runError: z.ZodType<RunError> = z.strictObject({
  name: z.string(),
  message: z.string(),
  stack: z.string().exactOptional(),
  code: text(64).exactOptional(),
});

const httpResponse = z.strictObject({
  status: z.int().min(200).max(599),
  headers: recordOf(isHeader),
  body: z.string(),
  base64: z.boolean().exactOptional(),
});
const announcedResponse: z.ZodType<HttpResponse> = z.union([
  httpResponse,
  httpResponse.extend({ body: z.literal(""), isStreamed: z.literal(true) }),
]);

const emit: z.ZodType<Emit> = z.strictObject({
  payload: jsonText,
  id: z.union([text(limits.emitIdCharacters), z.number()]).exactOptional(),
  name: text(limits.nameCharacters)
    .refine((name) => !name.startsWith("$"), "is reserved")
    .exactOptional(),
  summary: text(limits.summaryCharacters + 1).exactOptional(),
  ts: timestamp.exactOptional(),
  deliverAt: timestamp.exactOptional(),
  at: timestamp,
});

const logRecord: z.ZodType<LogRecord> = z.strictObject({
  k: text(64),
  ts: timestamp,
  msg: z.string().exactOptional(),
  h: text(64).exactOptional(),
  err: runError.exactOptional(),
});

const flowRequest: z.ZodType<FlowRequest> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("exit"), reason: z.string().nullable() }),
  z.strictObject({ kind: z.literal("delay"), ms: milliseconds }),
  z.strictObject({ kind: z.literal("suspend"), ms: milliseconds.nullable() }),
  z.strictObject({
    kind: z.literal("rerun"),
    ms: milliseconds,
    context: jsonText.nullable(),
    maxRetries: z.int().min(0).nullable(),
  }),
]);

const actionSend: z.ZodType<ActionSend> = z
  .strictObject({ kind: z.enum(sendKinds), argument: text(limits.sendCharacters), at: timestamp })
  .refine(
    ({ kind, argument }) => takeCharacters(argument.length) && parseSendArgument(kind, argument) !== undefined,
    "its argument is not one that the sandbox makes",
  );

const actionProducts: z.ZodType<ActionProducts> = z.strictObject({
  exports: recordOf(isJsonText),
  flow: flowRequest.nullable(),
  sends: z.array(actionSend).max(limits.sends),
  inputs: jsonText.nullable(),
  files: fileChanges
    .refine(({ put }) => totalBytes(put) <= fileLimits.runBytes, "has more bytes than a run may have")
    .refine((changes) => Buffer.byteLength(JSON.stringify(changes)) <= fileLimits.listingBytes, "is longer than a listing may be")
    .exactOptional(),
});

/** It is decoded as it is, whatever its characters: another text is other bytes, and no more of them. */
const fileRequest: z.ZodType<FileRequest> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("list") }),
  z.strictObject({ kind: z.literal("read"), part: partName }),
  z.strictObject({ kind: z.literal("write"), base64: text(base64Length(fileLimits.partBytes)) }),
]);

const products = {
  emits: z.array(emit).max(limits.emits),
  // One more than a run may write: the notice that it is cut.
  logs: z.array(logRecord).max(limits.logLines + 1),
  db: recordOf(isDbChanges),
  response: httpResponse.nullable(),
  action: actionProducts.exactOptional(),
  durationMs: milliseconds,
  cpuMs: milliseconds,
};

const execution: z.ZodType<Execution> = z.discriminatedUnion("outcome", [
  z.strictObject({ outcome: z.literal("returned"), result: jsonText.nullable(), ...products }),
  z.strictObject({ outcome: z.literal("threw"), error: runError, ...products }),
  z.strictObject({
    outcome: z.literal("limited"),
    error: runError,
    endedIsolate: z.boolean().exactOptional(),
    costProcess: z.boolean().exactOptional(),
    ...products,
  }),
  z.strictObject({ outcome: z.literal("crashed"), message: z.string(), costProcess: z.boolean().exactOptional() }),
]);

const inspection: z.ZodType<Inspection> = z.discriminatedUnion("outcome", [
  z.strictObject({
    outcome: z.literal("read"),
    definition: componentDefinition,
    warnings: z.array(z.strictObject({ code: z.string(), message: z.string(), path: z.string() })).exactOptional(),
  }),
  z.strictObject({
    outcome: z.literal("rejected"),
    code: z.string(),
    message: z.string(),
    prop: z.string().exactOptional(),
    line: z.number().exactOptional(),
    column: z.number().exactOptional(),
    stack: z.string().exactOptional(),
  }),
]);

const id = z.int().min(1);
/** It travels with a descriptor, in 32 bits. */
const requestId = z.int().min(1).max(0xffff_ffff);
const count = z.int().min(0).max(1_000_000);
const schemas = {
  ready: z.strictObject({}),
  response: z.strictObject({ id, response: announcedResponse }),
  paused: z.strictObject({ id }),
  executed: z.strictObject({ id, execution }),
  inspected: z.strictObject({ id, inspection }),
  pong: z.strictObject({ warm: z.strictObject({ isolates: count, sources: count }), evictions: count }),
  poisoned: z.strictObject({ reason: z.string() }),
  open: z.strictObject({ id: requestId, execution: id, host: text(maxNameLength), port: z.int().min(1).max(65_535) }),
  resolve: z.strictObject({ id: requestId, execution: id, query: z.enum(nameQueries), name: text(maxNameLength) }),
  store: z.strictObject({ id: requestId, execution: id, prop: text(maxPropLength), operation: storeOperation, index: z.int().min(0) }),
  file: z.strictObject({ id: requestId, execution: id, call: fileRequest }),
  body: z.strictObject({
    id: requestId,
    execution: id,
    index: count,
    base64: text(base64Length(maxPieceBytes)),
    isLast: z.boolean(),
  }),
  cancel: z.strictObject({ id: requestId }),
  debug: z.strictObject({ message: z.string() }),
  log: z.strictObject({ record: logRecord }),
} satisfies { readonly [Kind in FromChild["kind"]]: z.ZodType<Omit<Extract<FromChild, { kind: Kind }>, "kind">> };

/** @throws ProtocolViolation if it is not a message that the program of the children sends */
export function parseFromChild({ kind, text: json }: Frame<FromChild["kind"]>): FromChild {
  charactersLeft = maxJsonCharacters; // `safeParse` returns before another message is parsed.
  return { kind, ...parseFields<object>(schemas[kind], kind, json) } as FromChild; // The schema is that of its kind.
}
