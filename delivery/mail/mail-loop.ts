import type { Mailer, MailSession } from "../../domain/mail/outgoing-mail.ts";
import { backoffMs, pause } from "../../domain/retry.ts";
import type { Log } from "../../domain/log.ts";
import type { Reading } from "../routing/ports.ts";
import type { MailQueue } from "./ports.ts";

export interface MailLoopPorts {
  readonly mailer: Pick<Mailer, "connect">;
  readonly log: Log;
  /** In [0, 1). */
  readonly random: () => number;
}

const defaultIntervalMs = 2_000;
/** While the server is away. */
const reconnect = { firstMs: 2_000, maxMs: 5 * 60_000 } as const;
const settleMs = 3_000;

/** Sends due mails of these queues until it is stopped. Any number of processes may do it at once. */
export function startMails(queues: readonly MailQueue[], ports: MailLoopPorts, intervalMs = defaultIntervalMs): Reading {
  const sending = new MailLoop(queues, ports, intervalMs);
  const running = sending.run(); // Never rejects.
  return {
    stop: async () => {
      const stopped = sending.stop();
      await running;
      stopped();
    },
  };
}

class MailLoop {
  readonly #queues: readonly MailQueue[];
  readonly #ports: MailLoopPorts;
  readonly #intervalMs: number;
  readonly #stopping = new AbortController();
  #session: MailSession | undefined;

  constructor(queues: readonly MailQueue[], ports: MailLoopPorts, intervalMs: number) {
    this.#queues = queues;
    this.#ports = ports;
    this.#intervalMs = intervalMs;
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#sendDue();
        failures = 0;
      } catch (error) {
        failures++;
        if (!signal.aborted) this.#ports.log.warn({ op: "mail.send", err: error }, "mails wait, trying again");
      }
      await pause(failures === 0 ? this.#intervalMs : backoffMs(failures, reconnect, this.#ports.random()), signal);
    }
  }

  /** A mail that is being sent has a moment to end. @returns what to call after the end */
  stop(): () => void {
    this.#stopping.abort();
    const ended = new AbortController();
    void pause(settleMs, ended.signal).then(() => this.#session?.close()); // Never rejects.
    return () => ended.abort();
  }

  /** Connects first: while the server is away, no mail is claimed. */
  async #sendDue(): Promise<void> {
    const due: MailQueue[] = [];
    for (const queue of this.#queues) if (await queue.hasDue()) due.push(queue);
    if (due.length === 0) return;
    const session = await this.#ports.mailer.connect(this.#stopping.signal);
    this.#session = session;
    try {
      for (const queue of due) while (!this.#stopping.signal.aborted && session.isOpen && (await queue.sendNext(session)));
    } finally {
      this.#session = undefined;
      session.close();
    }
  }
}
