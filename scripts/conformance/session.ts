import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { dataOf, source } from "./shapes.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Undefined when the body is not JSON. */
  readonly body: unknown;
}

interface Given {
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as it is, without a content type unless the headers have one. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: no authorization header. */
  readonly key?: string | null;
}

/** A rule needs a resource that an earlier rule failed to create. */
export class Unmet extends Error {}

/** One run against a server: sends requests, remembers created resources, and deletes them at the end. */
export class Session {
  readonly #url: string;
  readonly #key: string;
  readonly #adminToken: string | undefined;
  readonly #made = new Set<string>();
  readonly #facts = new Map<string, string>();
  /** Part of all names, so that concurrent runs do not collide. */
  readonly tag = `conformance-${Date.now().toString(36)}`;

  /** @param url with `/v1` @param adminToken of Headwater's admin API */
  constructor(url: string, key: string, adminToken?: string) {
    this.#adminToken = adminToken;
    this.#url = url.replace(/\/+$/, "");
    this.#key = key;
  }

  get key(): string {
    return this.#key;
  }

  /** The base URL without `/v1`. @throws Unmet when it has no version */
  get unversionedUrl(): string {
    if (!this.#url.endsWith("/v1")) throw new Unmet("the URL does not end in /v1");
    return this.#url.slice(0, -3);
  }

  async ask(method: string, path: string, { body, raw, headers = {}, key = this.#key }: Given = {}): Promise<Answer> {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      // fetch adds a content type to a string, but not to bytes.
      ...(sent === undefined ? {} : { body: new TextEncoder().encode(sent) }),
      signal: AbortSignal.timeout(90_000),
    });
    const text = await response.text();
    return { status: response.status, text, body: parseJson(text) };
  }

  /** The status of a request to the admin API. @throws Unmet without the admin token */
  async admin(method: string, path: string, body?: object): Promise<number> {
    if (this.#adminToken === undefined) throw new Unmet("the admin token is not given");
    const response = await fetch(`${this.unversionedUrl}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#adminToken}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(90_000),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** The parsed body of a 200 response. @throws an Error with the response otherwise */
  async get<Shape>(shape: z.ZodType<Shape>, method: string, path: string, body?: object): Promise<Shape> {
    const answer = await this.ask(method, path, body === undefined ? {} : { body });
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 200)}`);
    return shaped(shape, answer.body);
  }

  /** @throws an Error with the response when its status differs */
  async expectStatus(status: number, method: string, path: string, given: Given = {}): Promise<void> {
    const answer = await this.ask(method, path, given);
    expectEqual(`the status of ${method} ${path} (${answer.text.slice(0, 120)})`, answer.status, status);
  }

  /** Deploys a source whose name starts with the tag, and deletes it at the end. */
  async deploy(name: string, code: string): Promise<z.output<typeof source>> {
    const body = { component_code: code, name: `${this.tag}-${name}` };
    const { data } = await this.get(dataOf(source), "POST", "/sources", body);
    this.keep(`/components/${data.component_id}`);
    this.keep(`/sources/${data.id}`);
    return data;
  }

  /** Reads Server-Sent Events until the text matches. @param url absolute @param onOpen called after the first bytes */
  async readStream(url: string, until: RegExp, onOpen: () => Promise<unknown>): Promise<string> {
    const closing = new AbortController();
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(30_000)]);
    const response = await fetch(url, { headers: { authorization: `Bearer ${this.#key}` }, signal });
    expectEqual("the status", response.status, 200);
    let text = "";
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      if (text === "") await onOpen();
      text += chunk;
      if (until.test(text)) break;
    }
    closing.abort();
    if (!until.test(text)) throw new Error(`the stream ended with ${text.slice(-200)}`);
    return text;
  }

  /** Registers a path that is deleted at the end. */
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

  /** Deletes all registered paths, newest first. */
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

/** Repeats the check until it passes, because servers do some work in the background. @throws the error of the last attempt */
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
