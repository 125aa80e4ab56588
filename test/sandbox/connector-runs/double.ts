import { once } from "node:events";
import { createServer as createHttp, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createHttps } from "node:https";
import { connect, type AddressInfo } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Dial, EgressPolicy } from "../../../runner/sandbox/network/connector.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createAuthority } from "../../support/certificate-authority.ts";
import { differences, type Encoding, type Exchange, type Family, type Fields, type ReceivedRequest } from "./contract.ts";
import { parseBody } from "./bodies.ts";

/** Services that a case expects to be asked. */
export interface Double {
  /** Of the authority that has issued the certificates of all hosts. */
  readonly certificate: string;
  /** The policy of production; names of the case have a public address, and others none. */
  readonly egress: EgressPolicy;
  /** Leads connections to ports 80 and 443 to the double, and others nowhere. */
  readonly dial: Dial;
  /** @returns what was wrong: each unexpected, wrong or missing request */
  expecting(family: Family, exchanges: readonly Exchange[], work: () => Promise<void>): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** A public address, as the egress policy wants it. Nothing is ever sent there. */
const somewhere = { address: "192.88.98.1", family: 4 } as const;
/** Headers of the transport and of the client, about which services say nothing. */
const unsaid =
  /^(host|connection|content-length|transfer-encoding|accept|accept-encoding|accept-language|user-agent|sec-fetch-mode|x-stainless-.*|x-fern-.*|contenttype)$/;

interface Script {
  readonly family: Family;
  readonly left: Exchange[];
  readonly hosts: ReadonlySet<string>;
  readonly problems: string[];
}

export async function startDouble(): Promise<Double> {
  const authority = createAuthority();
  let script: Script | undefined;
  const listener: RequestListener = (request, response) => {
    answer(script, request, response).catch((error: unknown) => {
      script?.problems.push(`the double failed: ${String(error)}`);
      response.destroy();
    });
  };
  const contexts = new Map<string, SecureContext>();
  const contextOf = (host: string): SecureContext => {
    const { certificate, key } = authority.issue({ hosts: [host] });
    const made = contexts.get(host) ?? createSecureContext({ cert: certificate, key });
    contexts.set(host, made);
    return made;
  };
  const https = createHttps({ SNICallback: (host, done) => done(null, contextOf(host)) }, listener);
  const servers = { 443: https, 80: createHttp(listener) };
  const ports = new Map<number, number>();
  for (const [port, server] of Object.entries(servers)) {
    await once(server.listen(0, "127.0.0.1"), "listening");
    ports.set(Number(port), (server.address() as AddressInfo).port); // It listens at a port.
  }
  return {
    certificate: authority.certificate,
    egress: createEgress({
      allow: [],
      resolver: async (host) => {
        if (script?.hosts.has(host) === true) return [somewhere];
        script?.problems.push(`the unexpected host ${host} is asked for`);
        return [];
      },
    }),
    // The port 1 has no listener.
    dial: ({ port }) => connect({ host: "127.0.0.1", port: ports.get(port) ?? 1, noDelay: true }),
    expecting: async (family, exchanges, work) => {
      const hosts = new Set(exchanges.map(({ request }) => new URL(request.split(" ")[1] ?? "").hostname));
      script = { family, left: [...exchanges], hosts, problems: [] };
      const { problems, left } = script;
      try {
        await work();
      } finally {
        script = undefined;
      }
      return [...problems, ...left.map(({ request }) => `the request ${request} has not arrived`)];
    },
    stop: async () => {
      await Promise.all(Object.values(servers).map(close));
    },
  };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function answer(script: Script | undefined, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const received = await receive(request);
  const said = `${received.method} ${received.url.href}`;
  if (script === undefined) return void response.destroy();
  const { family, left, problems } = script;
  const at = left.findIndex(({ request: expected }) => isSame(expected, received, family));
  const [exchange] = at < 0 ? [] : left.splice(at, 1);
  if (exchange === undefined) {
    problems.push(
      `the request ${said} is unexpected; it has ${JSON.stringify(received.headers)} ${received.bytes.toString().slice(0, 2_000)}`,
    );
    return void response.writeHead(421, { "content-type": "text/plain" }).end("unexpected");
  }
  const wrong = await complaints(family, exchange, received);
  problems.push(...wrong.map((each) => `${said}: ${each}`));
  send(response, family, exchange);
}

async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const scheme = "encrypted" in request.socket ? "https" : "http";
  return {
    method: request.method ?? "",
    url: new URL(request.url ?? "/", `${scheme}://${request.headers.host ?? ""}`),
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    bytes: Buffer.concat(chunks),
  };
}

/** Method, origin, path and query, with the query of the family. The order of a query says nothing. */
function isSame(expected: string, { method, url }: ReceivedRequest, family: Family): boolean {
  const [expectedMethod, address = ""] = expected.split(" ");
  const wanted = new URL(address);
  for (const [name, value] of Object.entries(family.query ?? {})) wanted.searchParams.append(name, value);
  const sorted = ({ searchParams }: URL): string => JSON.stringify([...searchParams].sort((a, b) => (String(a) < String(b) ? -1 : 1)));
  const isQuerySame = sorted(wanted) === sorted(url) || matchesAny(wanted, url);
  return method === expectedMethod && wanted.origin === url.origin && pathMatches(wanted.pathname, url.pathname) && isQuerySame;
}

/** A part `*` of an expected path is any: names that a piece makes up. */
function pathMatches(wanted: string, given: string): boolean {
  const [expected, actual] = [wanted.split("/"), given.split("/")];
  return expected.length === actual.length && expected.every((part, at) => part === actual[at] || (part === "*" && actual[at] !== ""));
}

/** A value `*` in an expected query is any: times that the test cannot know. */
function matchesAny(wanted: URL, url: URL): boolean {
  const [expected, actual] = [[...wanted.searchParams], [...url.searchParams]];
  const names = (list: readonly (readonly [string, string])[]): string => JSON.stringify(list.map(([name]) => name).sort());
  return (
    names(expected) === names(actual) && expected.every(([name, value]) => value === "*" || url.searchParams.getAll(name).includes(value))
  );
}

const contentTypes: Readonly<Record<Encoding, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
  text: "text/plain",
  none: "",
};

async function complaints(family: Family, exchange: Exchange, received: ReceivedRequest): Promise<readonly string[]> {
  const { "content-type": type = "", ...rest } = received.headers;
  const headers = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !unsaid.test(name) && family.unsaidHeaders?.test(name) !== true),
  );
  const encoding = exchange.body === undefined ? "none" : (exchange.encoding ?? family.encoding);
  const { "content-type": ownType, ...ownHeaders }: Fields = exchange.headers ?? {};
  const essence = type.split(";")[0]?.trim() ?? "";
  const isEmpty = received.bytes.byteLength === 0;
  const expectedType = ownType ?? contentTypes[encoding];
  const body = isEmpty ? undefined : await parseBody(received, encoding);
  const refusal = family.verify?.(received);
  return [
    // Clients name the type of no body, too.
    ...(exchange.body === undefined && isEmpty ? [] : differences(expectedType, essence, "content-type")),
    ...differences({ ...(exchange.unproven ? {} : family.headers), ...ownHeaders }, headers, "headers"),
    ...differences(exchange.body, body, "body"),
    ...(refusal === undefined ? [] : [refusal]),
  ];
}

function send(response: ServerResponse, family: Family, { status = 200, answerHeaders = {}, json, text, speed }: Exchange): void {
  if (speed === "never") return;
  const body = text ?? (json === undefined ? "" : JSON.stringify(json));
  const type = text === undefined ? (family.answerType ?? "application/json") : "text/html";
  response.writeHead(status, { ...(body === "" ? {} : { "content-type": type }), ...answerHeaders });
  if (speed !== "dripping") return void response.end(body);
  const rest = [...Buffer.from(body)];
  const drip = (): void => {
    const byte = rest.shift();
    if (byte === undefined) return void response.end();
    response.write(Buffer.from([byte]), () => setTimeout(drip, 1));
  };
  drip();
}
