import { Socket } from "node:net";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import { takeDescriptor } from "../network/passed-descriptors.ts";
import type { Network, NetworkUser, SharedNetwork } from "../operations/network/network.ts";
import { type FromChild, maxRequests, type PlainError, type ToChild } from "./protocol.ts";
import { descriptorsDescriptor } from "../jail/profiles.ts";

type Answer = Extract<ToChild, { kind: "opened" | "resolved" | "refused" }>;
type Question =
  | { readonly kind: "open"; readonly host: string; readonly port: number }
  | { readonly kind: "resolve"; readonly query: Parameters<Network["resolve"]>[0]; readonly name: string };

interface Waiting {
  readonly owner: string;
  readonly settle: (answer: unknown) => void;
  readonly fail: (error: Error) => void;
}

/**
 * The network of a child that cannot connect: its parent resolves, connects, and passes the connected sockets. What is unanswered is
 * shared by the owners in this process; a request that was cancelled counts until it is answered.
 */
export class ParentNetwork implements SharedNetwork {
  readonly #send: (message: FromChild) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #unanswered = new FairSemaphore({
    permits: maxRequests,
    permitsPerKey: maxRequests / 8,
    alone: { permits: (maxRequests * 3) / 4, now: () => performance.now() },
  });
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

  receive(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) throw new Error(`the parent answered the unknown request ${answer.id}`);
    this.#waiting.delete(answer.id);
    this.#unanswered.release(waiting.owner);
    if (answer.kind === "refused") return waiting.fail(toError(answer.error));
    if (answer.kind === "resolved") return waiting.settle(answer.records);
    try {
      waiting.settle(takeSocket(answer.id));
    } catch (error) {
      waiting.fail(error as Error); // `takeSocket` throws no other.
    }
  }

  async #ask(user: NetworkUser, question: Question, signal: AbortSignal): Promise<unknown> {
    const { owner } = user;
    await this.#unanswered.acquire(owner, signal);
    const { execution } = user;
    if (execution === undefined || signal.aborted) {
      this.#unanswered.release(owner);
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
      this.#send({ ...question, id, execution });
    });
  }
}

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
