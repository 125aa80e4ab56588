import { beginWork, endWork } from "../../runtime/open-work.ts";
import { readAll, take } from "./body.ts";
import type { Content } from "./body.ts";
import { decodeDataUrl } from "./data-url.ts";
import { pairsOf } from "./headers.ts";
import { rawFetch, RawBody } from "./raw-fetch.ts";
import type { RawResponse } from "./raw-fetch.ts";
import { Request } from "./request.ts";
import type { RequestInit } from "./request.ts";
import { networkResponse } from "./response.ts";
import type { Response } from "./response.ts";
import { lazyStreams } from "../streams/streams-lazy.ts";
import type { ReadableStream } from "../streams/streams.ts";

/** `fetch` as in Node: every failure of the network is `TypeError: fetch failed` with the reason as `cause`. */
export async function fetch(input: unknown, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const { signal } = request;
  signal.throwIfAborted();
  if (request.url.startsWith("data:")) return dataResponse(request.url);
  const work = beginWork(`fetch ${request.method} ${request.url}`);
  try {
    return await exchange(request, signal);
  } finally {
    endWork(work);
  }
}

async function exchange(request: Request, signal: Request["signal"]): Promise<Response> {
  const body = request.body === null ? undefined : await readAll(take(request));
  try {
    const answer = await rawFetch({
      url: request.url,
      method: request.method,
      headers: pairsOf(request.headers),
      body,
      redirect: request.redirect,
      signal,
      raw: false,
    });
    return networkResponse(contentOf(answer), { ...answer, headers: answer.headers });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new TypeError("fetch failed", { cause });
  }
}

function contentOf({ body }: RawResponse): Content | null {
  if (body === null) return null;
  if (!(body instanceof RawBody)) return { bytes: body, stream: undefined };
  return { bytes: undefined, stream: pulled(body), isRemote: true };
}

function pulled(body: RawBody): ReadableStream<Uint8Array> {
  const { ReadableStream } = lazyStreams();
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const chunk = await body.next().catch((cause: unknown) => {
        // A signal's reason is passed on; a broken connection becomes Node's error.
        const isOurs = cause instanceof Error && cause.name === "Error";
        throw isOurs ? new TypeError("terminated", { cause }) : cause;
      });
      if (chunk !== undefined) return controller.enqueue(chunk);
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: () => body.cancel(),
  });
}

function dataResponse(url: string): Response {
  const { bytes, contentType } = decodeDataUrl(url);
  return networkResponse(
    { bytes, stream: undefined },
    { status: 200, statusText: "OK", headers: { "content-type": contentType }, url, redirected: false },
  );
}
