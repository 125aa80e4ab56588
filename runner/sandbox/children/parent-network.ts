import { Socket } from "node:net";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import { takeDescriptor } from "../network/passed-descriptors.ts";
import type { BodyPiece } from "../../../domain/run-products.ts";
import type { FileCall, FileResult } from "../operations/file-call.ts";
import type { StoreCall } from "../operations/store-call.ts";
import type { Network, NetworkUser, SharedNetwork } from "../operations/network/network.ts";
import {
  type FromChild,
  maxBodyRequests,
  maxFileRequests,
  maxRequests,
  maxStoreRequests,
  type PlainError,
  type ToChild,
  toFileRequest,
} from "./protocol.ts";
import { descriptorsDescriptor } from "../jail/profiles.ts";

type Answer = Extract<ToChild, { kind: "opened" | "resolved" | "stored" | "filed" | "taken" | "refused" }>;
type Question =
  | { readonly kind: "open"; readonly host: string; readonly port: number }
  | { readonly kind: "resolve"; readonly query: Parameters<Network["resolve"]>[0]; readonly name: string }
  | ({ readonly kind: "store" } & StoreCall)
  | { readonly kind: "file"; readonly call: FileCall }
  | ({ readonly kind: "body" } & BodyPiece);

interface Waiting {
  readonly owner: string;
  readonly unanswered: FairSemaphore;
  readonly settle: (answer: unknown) => void;
  readonly fail: (error: Error) => void;
}

/**
 * The network of a child that cannot connect: its parent resolves, connects, and passes the connected sockets. It also performs what runs
 * ask of data stores and of their files, and passes the bodies of their responses on. What is unanswered is shared by the owners in this process; a request that was cancelled counts
 * until it is answered.
 */
export class ParentNetwork implements SharedNetwork {
  readonly #send: (message: FromChild) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #unanswered = unansweredOf(maxRequests - maxStoreRequests - maxFileRequests - maxBodyRequests);
  readonly #unansweredByStores = unansweredOf(maxStoreRequests);
  readonly #unansweredByFiles = unansweredOf(maxFileRequests);
  readonly #unansweredByCallers = unansweredOf(maxBodyRequests);
  #nextId = 1;

  constructor(send: (message: FromChild) => void) {
    this.#send = send;
  }

  async connect(user: NetworkUser, host: string, port: number, signal: AbortSignal): Promise<Socket> {
    return (await this.#ask(user, { kind: "open", host, port }, signal)) as Socket; // What `opened` is answered with.
  }

  resolve(user: NetworkUser, query: Parameters<Network["resolve"]>[0], name: string, signal: AbortSignal): Promise<unknown> {
    return this.#ask(user, { kind: "resolve", query, name }, signal);
  }

  askStore(user: NetworkUser, call: StoreCall, signal: AbortSignal): Promise<unknown> {
    return this.#ask(user, { kind: "store", ...call }, signal);
  }

  async askFiles(user: NetworkUser, call: FileCall, signal: AbortSignal): Promise<FileResult> {
    const result = (await this.#ask(user, { kind: "file", call }, signal)) as string; // What `filed` is answered with.
    return call.kind === "read" ? Buffer.from(result, "base64") : result;
  }

  async sendPiece(user: NetworkUser, piece: BodyPiece, signal: AbortSignal): Promise<boolean> {
    return (await this.#ask(user, { kind: "body", ...piece }, signal)) as boolean; // What `taken` is answered with.
  }

  receive(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) throw new Error(`the parent answered the unknown request ${answer.id}`);
    this.#waiting.delete(answer.id);
    waiting.unanswered.release(waiting.owner);
    if (answer.kind === "refused") return waiting.fail(toError(answer.error));
    if (answer.kind === "resolved") return waiting.settle(answer.records);
    if (answer.kind === "stored" || answer.kind === "filed") return waiting.settle(answer.result);
    if (answer.kind === "taken") return waiting.settle(answer.isTaken);
    try {
      waiting.settle(takeSocket(answer.id));
    } catch (error) {
      waiting.fail(error as Error); // `takeSocket` throws no other.
    }
  }

  async #ask(user: NetworkUser, question: Question, signal: AbortSignal): Promise<unknown> {
    const { owner } = user;
    const unanswered = {
      store: this.#unansweredByStores,
      file: this.#unansweredByFiles,
      body: this.#unansweredByCallers,
      open: this.#unanswered,
      resolve: this.#unanswered,
    }[question.kind];
    await unanswered.acquire(owner, signal);
    const { execution } = user;
    if (execution === undefined || signal.aborted) {
      unanswered.release(owner);
      throw signal.aborted ? (signal.reason as Error) : new Error("the run has ended");
    }
    const id = this.#nextId;
    this.#nextId = (this.#nextId % 0xffff_ffff) + 1;
    return await new Promise((resolve, reject) => {
      const cancel = (): void => {
        this.#send({ kind: "cancel", id });
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", cancel, { once: true });
      this.#waiting.set(id, {
        owner,
        unanswered,
        settle: (answer) => {
          signal.removeEventListener("abort", cancel);
          if (signal.aborted && answer instanceof Socket) answer.destroy();
          resolve(answer);
        },
        fail: (error) => {
          signal.removeEventListener("abort", cancel);
          reject(error);
        },
      });
      // Bytes become text only now.
      const message = question.kind === "file" ? { kind: question.kind, call: toFileRequest(question.call) } : question;
      this.#send({ ...message, id, execution });
    });
  }
}

const unansweredOf = (permits: number): FairSemaphore =>
  new FairSemaphore({ permits, permitsPerKey: permits / 8, alone: { permits: (permits * 3) / 4, now: () => performance.now() } });

function takeSocket(id: number): Socket {
  const { descriptor, number } = takeDescriptor(descriptorsDescriptor);
  const socket = new Socket({ fd: descriptor });
  if (number === id) return socket;
  socket.destroy();
  throw new Error(`the parent passed connection ${number} for ${id}`);
}

function toError({ name, message, code }: PlainError): Error {
  return Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
}
