import type { ReadinessReport } from "../ports.ts";

interface Log {
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
}

/** A dependency without which a component cannot be saved and run. */
export interface ReadinessCheck {
  /** Name in the response of `/readyz`, snake_case. */
  readonly name: string;
  /** Resolves if it is available. @throws an error whose message says what is missing, without addresses or secrets */
  check(): Promise<void>;
}

/** Reports are public, so they are reused for this long; reports of a failed check are not reused. */
const reuseMs = 500;
const checkTimeoutMs = 2_000;

/** Runs all checks concurrently, once for concurrent callers. Logs changes of the failed checks. */
export class Readiness {
  readonly #checks: readonly ReadinessCheck[];
  readonly #log: Log;
  #latest: { readonly at: number; readonly report: Promise<ReadinessReport> } | undefined;
  #logged = "";

  constructor(checks: readonly ReadinessCheck[], log: Log) {
    this.#checks = checks;
    this.#log = log;
  }

  read(): Promise<ReadinessReport> {
    const now = performance.now();
    if (this.#latest === undefined || now - this.#latest.at > reuseMs) this.#latest = { at: now, report: this.#run() };
    return this.#latest.report;
  }

  async #run(): Promise<ReadinessReport> {
    const results = await Promise.all(this.#checks.map(async ({ name, check }) => [name, await outcomeOf(check)] as const));
    const failed = results.filter(([, outcome]) => outcome !== "ok");
    this.#logChange(Object.fromEntries(failed));
    if (failed.length > 0) this.#latest = undefined;
    return { ready: failed.length === 0, checks: Object.fromEntries(results) };
  }

  #logChange(failed: Readonly<Record<string, string>>): void {
    const names = Object.keys(failed).join();
    if (names === this.#logged) return;
    this.#logged = names;
    if (names === "") this.#log.info({ op: "process.ready" }, "ready");
    else this.#log.warn({ op: "process.ready", failed }, "not ready");
  }
}

async function outcomeOf(check: () => Promise<void>): Promise<string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(`no answer within ${checkTimeoutMs} ms`), checkTimeoutMs);
  try {
    return await Promise.race([check().then(() => "ok", messageOf), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
