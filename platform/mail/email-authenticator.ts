import { Worker } from "node:worker_threads";
import { networkOf } from "../../domain/client-address.ts";
import { undetermined, type EmailAuthentication } from "../../domain/invocation/email-authentication.ts";
import type { Log } from "../../domain/log.ts";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import type { ArrivedEmail } from "../../ingress/email/ports.ts";
import type { SentMail } from "./authenticate-email.ts";
import type { MailDnsLimits } from "./mail-dns.ts";

/** What the thread is given for a message, and what it posts. */
export interface MailToCheck extends Pick<MailDnsLimits, "servers"> {
  readonly id: number;
  /** Epoch milliseconds. The thread may have to start first. */
  readonly until: number;
  readonly mail: Omit<SentMail, "raw"> & { readonly raw: Uint8Array };
}
export interface CheckedMail {
  readonly id: number;
  readonly authentication: EmailAuthentication;
}

export interface AuthenticatorLimits {
  /** Of a message, its wait for others included. */
  readonly maxMs: number;
  /** For the thread, to say that the time is over. */
  readonly graceMs: number;
  readonly maxHeapMb: number;
  /** Messages that are checked at once, in all and of one client network. */
  readonly permits: number;
  readonly permitsPerKey: number;
}

const defaults: AuthenticatorLimits = { maxMs: 5_000, graceMs: 1_000, maxHeapMb: 256, permits: 16, permitsPerKey: 8 };

/**
 * Checks the senders of messages in a thread of its own, several at once, because DNS takes time: hashes of large messages must not delay
 * requests of HTTP. A thread that does not answer in time is ended, and the next message gets another.
 */
export class EmailAuthenticator {
  readonly #servers: readonly string[];
  readonly #limits: AuthenticatorLimits;
  readonly #log: Pick<Log, "warn">;
  readonly #turns: FairSemaphore;
  readonly #checking = new Map<number, (authentication: EmailAuthentication) => void>();
  #thread: Worker | undefined;
  #lastId = 0;

  /** @param servers of DNS; empty: those of the system */
  constructor(servers: readonly string[], log: Pick<Log, "warn">, limits: Partial<AuthenticatorLimits> = {}) {
    this.#servers = servers;
    this.#log = log;
    this.#limits = { ...defaults, ...limits };
    this.#turns = new FairSemaphore(this.#limits);
  }

  /** @param from the address that the event shows as `From`; "" without one */
  async authenticate({ raw, from: sender, peer, helo }: ArrivedEmail, from: string): Promise<EmailAuthentication> {
    const { maxMs } = this.#limits;
    const [until, signal] = [Date.now() + maxMs, AbortSignal.timeout(maxMs)];
    const check = (): Promise<EmailAuthentication> => this.#check({ raw, sender, ip: peer, helo, from }, until);
    return await this.#turns.use(networkOf(peer), check, signal).catch((error: unknown) => {
      if (signal.aborted) return undetermined;
      throw error;
    });
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    if (thread !== undefined) this.#abandon(thread);
    await thread?.terminate();
  }

  async #check(mail: SentMail, until: number): Promise<EmailAuthentication> {
    const thread = (this.#thread ??= this.#start());
    const { promise, resolve } = Promise.withResolvers<EmailAuthentication>();
    const id = ++this.#lastId;
    this.#checking.set(id, resolve);
    const maxWaitMs = Math.max(1, until - Date.now() + this.#limits.graceMs);
    const timer = setTimeout(() => this.#lose(thread, new Error("it does not answer in time")), maxWaitMs);
    thread.postMessage({ id, mail, servers: this.#servers, until } satisfies MailToCheck);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#checking.delete(id);
    }
  }

  #start(): Worker {
    const url = new URL("authentication-thread.ts", import.meta.url);
    const thread = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: this.#limits.maxHeapMb } });
    thread.on("message", ({ id, authentication }: CheckedMail) => this.#checking.get(id)?.(authentication));
    thread.on("error", (error: Error) => this.#lose(thread, error));
    thread.on("exit", (code) => this.#lose(thread, new Error(`it ended with code ${code}`)));
    thread.unref();
    return thread;
  }

  #lose(thread: Worker, error: Error): void {
    if (this.#thread !== thread) return;
    this.#log.warn(
      { op: "email.authenticate", messages: this.#checking.size, err: error },
      "the thread that checks senders failed: they are temperror",
    );
    this.#abandon(thread);
  }

  /** What it checks is not determined, and the next message gets another thread. */
  #abandon(thread: Worker): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const resolve of this.#checking.values()) resolve(undetermined);
    void thread.terminate();
  }
}
