import { createServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import type { Issued } from "./certificate-authority.ts";

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** The resource's `service.name`. */
  readonly service: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly startMs: number;
  readonly endMs: number;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** All received bodies as text. */
  readonly text: () => string;
  close(): Promise<void>;
}

/** Receives OTLP as JSON over HTTP or HTTPS, and stores it in memory. @param status of its responses */
export async function startCollector(status = 200, issued?: Issued): Promise<Collector> {
  const [spans, texts]: [CollectedSpan[], string[]] = [[], []];
  const receive: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString();
      texts.push(text);
      if (request.url === "/v1/traces") spans.push(...spansIn(JSON.parse(text) as Export)); // The shape of OTLP.
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  };
  const server = issued === undefined ? createServer(receive) : createHttpsServer({ cert: issued.certificate, key: issued.key }, receive);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `${issued === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`, // Listening on TCP.
    spans,
    text: () => texts.join("\n"),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes?: readonly Attribute[];
      }[];
    }[];
  }[];
}

function spansIn({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, attributes = [], startTimeUnixNano, endTimeUnixNano }) => ({
        traceId,
        spanId,
        parentSpanId,
        name,
        service: String(plain(resource.attributes)["service.name"]),
        attributes: plain(attributes),
        startMs: millisecondsOf(startTimeUnixNano),
        endMs: millisecondsOf(endTimeUnixNano),
      })),
    ),
  );
}

const plain = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Nanoseconds exceed the precision of a number. */
const millisecondsOf = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1_000_000n);
