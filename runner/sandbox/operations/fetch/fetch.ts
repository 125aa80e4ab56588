import type { IncomingMessage } from "node:http";
import { integerArgument } from "../arguments.ts";
import type { AsyncOperation, OperationContext, PostOperation } from "../context.ts";
import { holdWindow } from "../zlib/brotli-windows.ts";
import { maxBodyBytes, maxDecompressedBytes, readBody } from "./body.ts";
import type { BodyReader } from "./body.ts";
import { decompress } from "./decompress.ts";
import { exchange } from "./exchange.ts";
import { followRedirect, redirectLocation } from "./redirect.ts";
import { coded, parseFetchRequest } from "./request.ts";
import type { FetchRequest } from "./request.ts";
import { withSlot } from "../slots.ts";

const concurrent = 50;
const maxOpenBodies = 500;
const maxRedirects = 20;

/** A request under way, or a response whose body the guest pulls. */
interface Fetch {
  readonly abort: AbortController;
  credits: number;
  wake: () => void;
}

/**
 * `fetch({id, url, method, headers, redirect, raw}, body?)` → `{status, statusText, headers, url, redirected, httpVersion, body, trailers}`.
 * `body` is null when there is none, all bytes when they came at once, else `{first: bytes}`: the rest is sent as `fetch_body`
 * (id, chunk | null, trailers), one chunk for each `fetch_pull` (id), ending with `fetch_error` (id, message, code) when it breaks.
 */
export const fetchAsync: Record<string, AsyncOperation> = {
  fetch: async (context, args) => {
    const request = parseFetchRequest(args);
    const fetches = fetchesOf(context);
    if (fetches.has(request.id)) throw coded(new Error("the id of the request is in use"), "ERR_INVALID_ARG_VALUE");
    if (fetches.size >= maxOpenBodies + concurrent)
      throw coded(new Error(`more than ${maxOpenBodies} requests or unread responses are open`), "limit_exceeded");
    const fetch: Fetch = { abort: new AbortController(), credits: 0, wake: () => {} };
    fetches.set(request.id, fetch);
    const release = endWithRun(context, fetch);
    const end = (): void => {
      release();
      fetches.delete(request.id);
    };
    try {
      return await withSlot(context, "fetch", concurrent, () => respond(context, request, fetch, end));
    } catch (error) {
      end();
      throw error;
    }
  },
};

export const fetchPosts: Record<string, PostOperation> = {
  fetch_pull: (context, [id]) => {
    const fetch = fetchesOf(context).get(integerArgument(id, "id", 1, Number.MAX_SAFE_INTEGER));
    if (fetch === undefined) return;
    // A pull may come before the body waits for it.
    fetch.credits = Math.min(fetch.credits + 1, 16);
    fetch.wake();
  },
  fetch_abort: (context, [id]) => {
    const fetch = fetchesOf(context).get(integerArgument(id, "id", 1, Number.MAX_SAFE_INTEGER));
    fetch?.abort.abort();
  },
};

function fetchesOf(context: OperationContext): Map<number, Fetch> {
  const known = context.state.get("fetch:open");
  if (known !== undefined) return known as Map<number, Fetch>; // only written below
  const fetches = new Map<number, Fetch>();
  context.state.set("fetch:open", fetches);
  return fetches;
}

function endWithRun({ signal }: OperationContext, fetch: Fetch): () => void {
  const abort = (): void => fetch.abort.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}

async function respond(context: OperationContext, request: FetchRequest, fetch: Fetch, end: () => void): Promise<unknown> {
  fetch.abort.signal.throwIfAborted();
  const { response, final, redirected } = await follow(context, request, fetch.abort.signal);
  const head = {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? "",
    headers: pairs(response.rawHeaders),
    url: final.url.href,
    redirected,
    httpVersion: response.httpVersion,
  };
  if (final.method === "HEAD" || [101, 204, 205, 304].includes(head.status)) {
    // A body after a 205 would be read forever, even after the end of the run.
    if (head.status === 205) response.destroy();
    else response.resume();
    end();
    return { ...head, body: null, trailers: [] };
  }
  const isBrotli = !request.raw && /\bbr\b/i.test(response.headers["content-encoding"] ?? "");
  const window = isBrotli ? holdWindow(context, "decompress") : undefined;
  const readable = request.raw ? response : decompress(response);
  readable.once("close", () => window?.release());
  const body = readBody(readable, readable === response ? maxBodyBytes : maxDecompressedBytes, window?.grow);
  const { bytes, complete } = await body.first();
  if (complete) {
    end();
    return { ...head, body: bytes, trailers: pairs(response.rawTrailers) };
  }
  void pump(context, request.id, fetch, body, response).finally(end); // it reports its failures to the guest
  return { ...head, body: { first: bytes }, trailers: [] };
}

async function follow(
  context: OperationContext,
  first: FetchRequest,
  signal: AbortSignal,
): Promise<{ response: IncomingMessage; final: FetchRequest; redirected: boolean }> {
  let request = first;
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const response = await exchange(context, request, signal);
    const location = redirectLocation(response.statusCode ?? 0, response.headers.location);
    if (location === undefined || request.redirect === "manual") return { response, final: request, redirected: hops > 0 };
    response.destroy();
    if (request.redirect === "error") throw coded(new TypeError("unexpected redirect"), "ERR_UNEXPECTED_REDIRECT");
    request = followRedirect(request, response.statusCode ?? 0, location);
  }
  throw coded(new TypeError(`redirect count exceeded: more than ${maxRedirects} in a row`), "ERR_TOO_MANY_REDIRECTS");
}

/** Sends one chunk for each credit, so that the guest controls how much of a body is in its memory. */
async function pump(context: OperationContext, id: number, fetch: Fetch, body: BodyReader, response: IncomingMessage): Promise<void> {
  const { signal } = fetch.abort;
  const onAbort = (): void => {
    body.cancel();
    fetch.wake();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      await credit(fetch);
      if (signal.aborted) return;
      const chunk = await body.next();
      if (chunk === undefined) break;
      await context.deliverAndWait("fetch_body", id, chunk, []);
    }
    context.deliver("fetch_body", id, null, pairs(response.rawTrailers));
  } catch (error) {
    body.cancel();
    if (!signal.aborted) context.deliver("fetch_error", id, messageOf(error), codeOf(error));
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function credit(fetch: Fetch): Promise<void> {
  while (fetch.credits === 0 && !fetch.abort.signal.aborted) {
    await new Promise<void>((resolve) => {
      fetch.wake = resolve;
    });
  }
  fetch.credits -= 1;
}

function pairs(raw: readonly string[]): [string, string][] {
  const result: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) result.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return result;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
