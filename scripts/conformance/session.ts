import { setTimeout as pause } from "node:timers/promises";
import type { z } from "zod";

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Undefined when it is no JSON. */
  readonly body: unknown;
}

/** A rule needs what an earlier one was to make. */
export class Unmet extends Error {}

/** One run of the kit against a server: asks it, remembers what was made, and removes that at the end. */
export class Session {
  readonly #url: string;
  readonly #key: string;
  readonly #made = new Set<string>();
  readonly #facts = new Map<string, string>();
  /** In names, so that runs do not meet. */
  readonly tag = `conformance-${Date.now().toString(36)}`;

  /** @param url with `/v1` */
  constructor(url: string, key: string) {
    this.#url = url.replace(/\/+$/, "");
    this.#key = key;
  }

  async ask(method: string, path: string, body?: object, key: string | null = this.#key): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(90_000),
    });
    const text = await response.text();
    return { status: response.status, text, body: parseJson(text) };
  }

  /** The answer's body in its shape. @throws an Error that says what was answered instead of 200 */
  async get<Shape>(shape: z.ZodType<Shape>, method: string, path: string, body?: object): Promise<Shape> {
    const answer = await this.ask(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 200)}`);
    return shaped(shape, answer.body);
  }

  /** To be deleted at the end. */
  keep(path: string): void {
    this.#made.add(path);
  }

  remember(name: string, value: string): void {
    this.#facts.set(name, value);
  }

  /** @throws Unmet */
  recall(name: string): string {
    const value = this.#facts.get(name);
    if (value === undefined) throw new Unmet(`there is no ${name}`);
    return value;
  }

  /** What was made last goes first. */
  async clean(): Promise<void> {
    for (const path of [...this.#made].toReversed()) await this.ask("DELETE", path).catch(() => undefined); // It may be gone already.
  }
}

/** @throws an Error that names the fields that do not fit */
export function shaped<Shape>(shape: z.ZodType<Shape>, value: unknown): Shape {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`);
  throw new Error(issues.join("; "));
}

export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (given !== wanted) throw new Error(`${what} is ${given}, and should be ${wanted}`);
}

export function expectRefused({ status, body, text }: Answer): void {
  if (status < 400 || status > 499) throw new Error(`it answered ${status}, and should refuse with 4xx: ${text.slice(0, 200)}`);
  if (typeof body !== "object" || body === null || !("error" in body)) throw new Error(`the refusal has no 'error': ${text.slice(0, 200)}`);
}

/** Asks until it holds: what a server does in the background takes its time. @throws what was wrong the last time */
export async function eventually(check: () => Promise<void>, withinMs = 45_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (error instanceof Unmet || Date.now() > deadline) throw error;
    }
    await pause(250);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
