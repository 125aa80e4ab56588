import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { RequestOptions as HttpsRequestOptions } from "node:https";
import { TLSSocket } from "node:tls";
import type { OperationContext } from "../context.ts";
import { agentOf } from "./agents.ts";
import { coded } from "./request.ts";
import type { FetchRequest } from "./request.ts";
import { chargePieces, limitInterim } from "../pieces.ts";
import { outOfDebt } from "../sync-meter.ts";
import { secured } from "../network/tls-context.ts";

const connectTimeoutMs = 10_000;
/** A response may start late. The end of the run ends it in any case. */
const silenceTimeoutMs = 300_000;
const maxHeaderSize = 64 * 1024;
const publicAuthorities = { rejectUnauthorized: true } as const;

/** One request and the head of its response, without redirects, over a connection of the context's or a new one. */
export async function exchange(context: OperationContext, request: FetchRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const hostname = request.url.hostname.replace(/^\[|\]$/g, "");
  await outOfDebt(context);
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const send = request.url.protocol === "https:" ? httpsRequest : httpRequest;
    const outgoing = send({
      ...target(context, request, hostname),
      agent: agentOf(context, request.url.protocol),
      signal,
      maxHeaderSize,
      timeout: silenceTimeoutMs,
    });
    const connecting = setTimeout(
      () => outgoing.destroy(coded(new Error(`connect timeout after ${connectTimeoutMs} ms`), "ETIMEDOUT")),
      connectTimeoutMs,
    );
    outgoing.on("socket", (socket) => {
      // It is connected. A new one of TLS has its handshake before it.
      if (socket instanceof TLSSocket && isSecuring(socket)) socket.once("secureConnect", () => clearTimeout(connecting));
      else clearTimeout(connecting);
    });
    outgoing.on("close", () => clearTimeout(connecting));
    outgoing.on("timeout", () => outgoing.destroy(coded(new Error(`no data for ${silenceTimeoutMs} ms`), "ETIMEDOUT")));
    limitInterim(context, outgoing);
    outgoing.on("response", (response) => {
      chargePieces(context, response);
      resolve(response);
    });
    outgoing.on("upgrade", (_response, socket) => {
      socket.destroy();
      reject(coded(new Error("the server wants to switch protocols, which is not supported"), "ERR_SANDBOX_UNSUPPORTED"));
    });
    outgoing.on("error", reject);
    outgoing.end(request.body);
  });
}

/** Node's agent also uses the TLS options to decide whether a connection can be reused. */
function target(context: OperationContext, request: FetchRequest, hostname: string): HttpsRequestOptions {
  const { url, method, body } = request;
  const headers = headersOf(request);
  if (body !== undefined) headers["content-length"] = String(body.byteLength);
  else if (/^(POST|PUT|PATCH)$/.test(method)) headers["content-length"] = "0";
  return {
    hostname,
    port: url.port === "" ? null : url.port,
    path: request.path ?? url.pathname + url.search,
    method,
    headers,
    ...(url.protocol === "https:" ? secured(context, request.tls ?? publicAuthorities) : {}),
  };
}

/** `fetch` says which encodings it undoes; a raw request sends what it was given and nothing else. */
function headersOf({ url, headers, raw }: FetchRequest): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = Object.create(null);
  const spelling = new Map<string, string>();
  for (const [name, value] of headers) {
    const known = spelling.get(name.toLowerCase());
    if (known === undefined) {
      spelling.set(name.toLowerCase(), name);
      result[name] = value;
    } else result[known] = [result[known] ?? [], value].flat();
  }
  const add = (name: string, value: string): void => {
    if (!spelling.has(name)) result[name] = value;
  };
  if (url.username !== "" || url.password !== "")
    add("authorization", `Basic ${Buffer.from(`${decode(url.username)}:${decode(url.password)}`).toString("base64")}`);
  if (raw) return result;
  add("accept", "*/*");
  add("accept-language", "*");
  add("user-agent", "headwater");
  add("accept-encoding", "gzip, deflate, br");
  return result;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether its handshake is in progress. Node's types do not have the property. */
function isSecuring(socket: TLSSocket): boolean {
  return (socket as TLSSocket & { readonly secureConnecting?: boolean }).secureConnecting === true;
}
