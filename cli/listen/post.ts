import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface Posted {
  /** Null: there was no response. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Null: there was a response. */
  readonly error: string | null;
}

/** As long as attempts at webhooks. */
const timeoutMs = 15_000;
/** How long the body of a response is read, so that the connection can be used again. */
const readBodyMs = 2_000;

/** Posts with exactly these headers, besides those of the connection. Does not follow redirects. Never rejects. */
export async function post(url: URL, { headers, body, signal, timeout = timeoutMs }: PostOptions): Promise<Posted> {
  const startedAt = performance.now();
  const tooLate = AbortSignal.timeout(timeout);
  const result = await new Promise<Pick<Posted, "status" | "error">>((resolve) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const request = send(url, { method: "POST", headers: { ...headers, "content-length": Buffer.byteLength(body) } }, (response) => {
      response.on("error", () => undefined).resume();
      const timer = setTimeout(() => response.destroy(), readBodyMs).unref();
      response.once("close", () => clearTimeout(timer));
      resolve({ status: response.statusCode ?? null, error: null });
    });
    const abort = (): void => void request.destroy();
    for (const each of [signal, tooLate]) each.addEventListener("abort", abort, { once: true });
    request.once("close", () => [signal, tooLate].forEach((each) => each.removeEventListener("abort", abort)));
    request.on("error", (error: NodeJS.ErrnoException) =>
      resolve({ status: null, error: tooLate.aborted ? `no response within ${timeout / 1_000} s` : reasonOf(error, url) }),
    );
    if (signal.aborted) abort();
    request.end(body);
  });
  return { ...result, durationMs: Math.round(performance.now() - startedAt) };
}

interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout?: number;
}

function reasonOf({ code, message }: NodeJS.ErrnoException, { host }: URL): string {
  if (code === "ECONNREFUSED") return `nothing listens at ${host}`;
  if (code === "ENOTFOUND") return `there is no host ${host}`;
  if (code === "ECONNRESET" || code === "EPIPE") return `${host} closed the connection without a response`;
  return code ?? message;
}
