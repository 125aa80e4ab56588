import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { RequestOptions as HttpsRequestOptions } from "node:https";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import type { OperationContext } from "../context.ts";
import type { Egress } from "../network/egress.ts";
import { coded } from "./request.ts";
import type { FetchRequest } from "./request.ts";
import { chargePieces, limitInterim } from "../pieces.ts";
import { outOfDebt } from "../sync-meter.ts";
import { secured } from "../network/tls-context.ts";

const connectTimeoutMs = 10_000;
/** A response may start late. The end of the run ends it in any case. */
const silenceTimeoutMs = 300_000;
const idleSocketMs = 5_000;
const maxHeaderSize = 64 * 1024;
const publicAuthorities = { rejectUnauthorized: true } as const;

interface Agents {
  readonly "http:": HttpAgent;
  readonly "https:": HttpsAgent;
}

/**
 * One request and the head of its response, without redirects. The connection goes to an address that the egress policy gave:
 * a literal is judged here, a name by the agent's lookup, once.
 */
export async function exchange(context: OperationContext, request: FetchRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const hostname = request.url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(hostname) !== 0) await context.egress.lookup(hostname);
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
      if (!socket.connecting) clearTimeout(connecting);
      else socket.once(request.url.protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(connecting));
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

/** One pair of agents an isolate: owners never share a connection. */
function agentOf(context: OperationContext, protocol: string): HttpAgent | HttpsAgent {
  const known = context.state.get("fetch:agents") as Agents | undefined; // only written below
  const agents = known ?? createAgents(context.egress);
  if (known === undefined) context.state.set("fetch:agents", agents);
  return protocol === "https:" ? agents["https:"] : agents["http:"];
}

function createAgents(egress: Egress): Agents {
  // Node closes an idle socket of the pool after `timeout`, and none of them keeps the process alive.
  const options = {
    keepAlive: true,
    maxSockets: 64,
    maxFreeSockets: 8,
    timeout: idleSocketMs,
    lookup: vettedLookup(egress),
  };
  return { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };
}

export function vettedLookup(egress: Egress): LookupFunction {
  return (host, options, callback) => {
    egress.lookup(host).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(coded(new Error(`getaddrinfo ENOTFOUND ${host}`), "ENOTFOUND"), "");
        else if (options.all === true)
          callback(
            null,
            addresses.map(({ address, family }) => ({ address, family })),
          );
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ""),
    );
  };
}
