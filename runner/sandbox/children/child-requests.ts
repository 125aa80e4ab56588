import { once } from "node:events";
import type { Duplex } from "node:stream";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { TakePiece } from "../../../domain/run-products.ts";
import type { DataStores } from "../../../domain/data-store/data-stores.ts";
import type { RunFiles } from "../../../domain/files/run-files.ts";
import type { Connector } from "../network/connector.ts";
import { descriptorOf, passDescriptor } from "../network/passed-descriptors.ts";
import { Mutex } from "../isolate/mutex.ts";
import { outOfTurn, ProtocolViolation } from "../frames.ts";
import type { SandboxDebug } from "../sandbox-options.ts";
import { type FileUser, performFileCall } from "./file-requests.ts";
import {
  type FromChild,
  maxBodyRequests,
  maxFileRequests,
  maxRequests,
  maxStoreRequests,
  type PlainError,
  type ToChild,
} from "./protocol.ts";
import { performStoreCall, type StoreUser } from "./store-requests.ts";

type NetworkRequest = Extract<FromChild, { kind: "open" | "resolve" }>;
type DataRequest = Extract<FromChild, { kind: "store" | "file" | "body" }>;
type Cancellation = Extract<FromChild, { kind: "cancel" }>;
type DebugMessage = Extract<FromChild, { kind: "debug" | "log" }>;

interface Settings {
  readonly connector: Connector;
  readonly send: (message: ToChild) => void;
  /** Carries the answers. */
  readonly channel: Duplex | undefined;
  /** Takes descriptors. Undefined if the child has none. */
  readonly descriptors: Duplex | undefined;
  /** The owner of an execution of the child, its stores, its files, and who reads its response. @throws ProtocolViolation if the child does not have it */
  readonly userOf: (execution: number) => RequestUser;
  readonly dataStores: DataStores | undefined;
  readonly runFiles: RunFiles | undefined;
  /** Absent: the child is not debugged. */
  readonly debug: SandboxDebug | undefined;
}

type RequestUser = StoreUser & FileUser & { readonly takePiece?: TakePiece | undefined };

interface Request {
  readonly execution: number;
  readonly kind: (NetworkRequest | DataRequest)["kind"];
  readonly abort: AbortController;
}

/** What a child may have unanswered of kinds whose messages are large. */
const bounds: Readonly<Record<DataRequest["kind"], { readonly max: number; readonly what: string }>> = {
  store: { max: maxStoreRequests, what: "data stores" },
  file: { max: maxFileRequests, what: "files" },
  body: { max: maxBodyRequests, what: "bodies of responses" },
};

/** How long a child that does not take its connections is left alone before the next attempt. */
const retryMs = 20;
const maxMessageCharacters = 4 * 1024;
/** JSON of the records of one name. DNS sends 64 KiB at most, but names in it may be compressed. */
const maxRecordsCharacters = 1024 * 1024;

/**
 * Serves one child's requests for names, connections, data stores, files and callers. Each is answered exactly once, also if the child or the end of
 * its execution cancels it: a child may have `maxRequests` unanswered, which slows down one that asks too often.
 */
export class ChildRequests {
  readonly #settings: Settings;
  readonly #requests = new Map<number, Request>();
  /** Of passing a connection: while the channel is full, one of them tries again. */
  readonly #turns = new Mutex();
  /** Of requests that were not cancelled: each allows one cancellation. */
  #cancellable = 0;
  /** Of `#requests`. */
  readonly #counts = { store: 0, file: 0, body: 0 };
  /** Settles when the child reads again. */
  #drained: Promise<unknown> | undefined;
  /** Aborts when the child has ended. */
  readonly #end = new AbortController();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** @throws ProtocolViolation if an honest child would not send it */
  receive(message: NetworkRequest | DataRequest | Cancellation | DebugMessage): void {
    if (message.kind === "cancel") return this.#cancel(message);
    if (message.kind === "debug" || message.kind === "log") return this.#passToDebugger(message);
    const { id, execution, kind } = message;
    const user = this.#settings.userOf(execution);
    if (isBounded(kind) && this.#counts[kind] >= bounds[kind].max)
      throw new ProtocolViolation(`more than ${bounds[kind].max} requests to ${bounds[kind].what}`);
    if (this.#requests.has(id)) throw new ProtocolViolation(`a message '${kind}' whose number ${id} is in use`);
    if (this.#requests.size >= maxRequests) throw new ProtocolViolation(`more than ${maxRequests} requests for names and connections`);
    const request = { execution, kind, abort: new AbortController() };
    this.#requests.set(id, request);
    this.#cancellable += 1;
    if (isBounded(kind)) this.#counts[kind] += 1;
    void this.#answer(message, user, request); // Never rejects.
  }

  endExecution(execution: number): void {
    for (const request of this.#requests.values()) if (request.execution === execution) request.abort.abort(new Error("the run has ended"));
  }

  end(): void {
    this.#end.abort(new Error("the child has ended"));
    for (const { abort } of this.#requests.values()) abort.abort(this.#end.signal.reason);
  }

  #passToDebugger(message: DebugMessage): void {
    const { debug } = this.#settings;
    if (debug === undefined) throw outOfTurn(message.kind);
    if (message.kind === "debug") debug.onMessage(message.message);
    else debug.onLog(message.record);
  }

  #cancel({ kind, id }: Cancellation): void {
    if (this.#cancellable === 0) throw outOfTurn(kind);
    this.#cancellable -= 1;
    // It may have been answered in the meantime.
    this.#requests.get(id)?.abort.abort(new Error("the request was cancelled"));
  }

  /** Of a child that does not read, requests stay unanswered: the answers would fill this process. */
  async #untilRead(): Promise<void> {
    const { channel } = this.#settings;
    if (channel?.writableNeedDrain !== true) return;
    this.#drained ??= once(channel, "drain", { signal: this.#end.signal }).finally(() => (this.#drained = undefined));
    await this.#drained;
  }

  async #answer(message: NetworkRequest | DataRequest, user: RequestUser, { kind, abort: { signal } }: Request): Promise<void> {
    const { id } = message;
    const { owner } = user;
    const { connector, send, dataStores, runFiles } = this.#settings;
    try {
      if (message.kind === "store") {
        const result = await performStoreCall(message, user, dataStores, signal);
        await this.#untilRead();
        return send({ kind: "stored", id, result });
      }
      if (message.kind === "file") {
        await connector.admit(owner, this.#end.signal);
        const result = await performFileCall(message.call, user, runFiles, signal);
        await this.#untilRead();
        return send({ kind: "filed", id, result });
      }
      if (message.kind === "body") {
        await connector.admit(owner, this.#end.signal);
        const isTaken = (await user.takePiece?.(message)) ?? false;
        await this.#untilRead();
        return send({ kind: "taken", id, isTaken });
      }
      // A cancelled request waits as well: otherwise a child could cancel and ask again at any rate.
      await connector.admit(owner, this.#end.signal);
      await this.#untilRead();
      signal.throwIfAborted();
      if (message.kind === "resolve") {
        const records = bounded(await connector.resolve(owner, message.query, message.name, signal));
        send({ kind: "resolved", id, records });
      } else {
        const socket = await connector.connect(owner, message.host, message.port, signal);
        await this.#pass(socket, id, signal);
      }
    } catch (error) {
      if (!this.#end.signal.aborted) send({ kind: "refused", id, error: toPlain(error) });
    } finally {
      this.#requests.delete(id);
      if (isBounded(kind)) this.#counts[kind] -= 1;
    }
  }

  /** Closing our descriptor leaves the connection to the child. */
  async #pass(socket: Socket, id: number, signal: AbortSignal): Promise<void> {
    const { descriptors, send } = this.#settings;
    socket.on("error", () => {}); // The child sees it as well.
    await this.#turns.take();
    try {
      signal.throwIfAborted();
      if (!(descriptors instanceof Socket)) throw new Error("the child has no channel for connections");
      while (!passDescriptor(descriptorOf(descriptors), descriptorOf(socket), id)) await sleep(retryMs, undefined, { signal });
      // In the order of the descriptors: the child takes the next one when this arrives.
      send({ kind: "opened", id });
    } finally {
      this.#turns.release();
      socket.destroy();
    }
  }
}

const isBounded = (kind: string): kind is DataRequest["kind"] => kind in bounds;

function bounded(records: unknown): unknown {
  if (JSON.stringify(records).length <= maxRecordsCharacters) return records;
  throw Object.assign(new RangeError(`the records of the name are larger than ${maxRecordsCharacters} characters`), {
    code: "limit_exceeded",
  });
}

/** Of an error, what components may see. */
function toPlain(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error).slice(0, maxMessageCharacters) };
  const { code } = error as { readonly code?: unknown };
  return { name: error.name, message: error.message.slice(0, maxMessageCharacters), ...(typeof code === "string" && { code }) };
}
