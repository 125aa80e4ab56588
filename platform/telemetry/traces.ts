import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { SecureContext, TlsOptions } from "node:tls";
import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type SpanContext, type Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Span, SpanOptions, Traces } from "../../domain/traces.ts";
import type { ChangingFiles } from "../tls/changing-files.ts";

export interface TracesOptions {
  /** Base URL of a collector for OTLP as JSON over HTTP, `http://collector:4318`. Request headers are in OTEL_EXPORTER_OTLP_HEADERS. */
  readonly endpoint: string;
  /** Share of the traces started here that are recorded, 0 to 1. For other traces their caller has decided. */
  readonly share: number;
  /** OTEL_SERVICE_NAME overrides it. */
  readonly service: string;
  readonly version: string;
  readonly log: { warn(fields: object, message: string): void };
  /** Authorities that the collector is verified with. Default: the public ones. */
  readonly trusted?: ChangingFiles<SecureContext> | undefined;
}

export interface StartedTraces extends Traces {
  /** Sends pending spans, for two seconds at most. */
  stop(): Promise<void>;
}

const sendEveryMs = 1_000;
/** Spans that wait while the collector does not answer; more are lost. */
const maxQueuedSpans = 8_192;
const flushTimeoutMs = 2_000;
const minWarningIntervalMs = 60_000;

/** Sends spans to a collector in batches. A collector that is slow or down costs spans and nothing else. */
export function startTraces({ endpoint, share, service, version, log, trusted }: TracesOptions): StartedTraces {
  logExportFailures(log);
  const own = resourceFromAttributes({ "service.name": service, "service.version": version, "service.instance.id": crypto.randomUUID() });
  const provider = new TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          url: `${endpoint}/v1/traces`,
          ...(trusted === undefined ? {} : { httpAgentOptions: agentOf(trusted) }),
        }),
        scheduledDelayMillis: sendEveryMs,
        maxQueueSize: maxQueuedSpans,
      }),
    ],
  });
  const tracer = provider.getTracer("headwater", version);
  return {
    start: (name, options) => startSpan(tracer, name, options),
    stop: () => Promise.race([provider.shutdown().catch(() => undefined), after(flushTimeoutMs)]),
  };
}

/** Connections for the exporter, which asks for them once. Each new one is verified with the authorities of that time. */
const agentOf =
  (trusted: ChangingFiles<SecureContext>) =>
  (protocol: string): HttpAgent =>
    protocol === "https:" ? new VerifyingAgent(trusted) : new HttpAgent(keptConnections);

const keptConnections = { keepAlive: true };

class VerifyingAgent extends HttpsAgent {
  readonly #trusted: ChangingFiles<SecureContext>;

  constructor(trusted: ChangingFiles<SecureContext>) {
    // Without session tickets: a resumed session would not be verified again.
    super({ ...keptConnections, maxCachedSessions: 0 });
    this.#trusted = trusted;
  }

  override createConnection(
    ...[options, callback]: Parameters<HttpsAgent["createConnection"]>
  ): ReturnType<HttpsAgent["createConnection"]> {
    const verified: typeof options & Pick<TlsOptions, "secureContext"> = { ...options, secureContext: this.#trusted.current };
    return super.createConnection(verified, callback);
  }
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;

function startSpan(tracer: Tracer, name: string, { kind, traceparent, startedAt, attributes = {} }: SpanOptions): Span {
  const context = traceparent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(traceparent));
  const span = tracer.startSpan(
    name,
    {
      kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind],
      attributes,
      ...(startedAt === undefined ? {} : { startTime: startedAt }),
    },
    context,
  );
  // A span that is not recorded cannot be a parent: pass on the last recorded one.
  const passed = span.isRecording() || traceparent === undefined ? traceparentOf(span.spanContext()) : traceparent;
  return {
    traceparent: passed,
    end: ({ name: newName, attributes: more = {}, error } = {}) => {
      if (newName !== undefined) span.updateName(newName);
      span.setAttributes(error === undefined ? more : { ...more, "error.type": error });
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** @param traceparent accepted by `parseTraceparent` */
function contextOf(traceparent: string): SpanContext {
  const [, traceId = "", spanId = "", flags = "00"] = traceparent.split("-");
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}

/** The SDK reports each lost batch: logs one a minute. */
function logExportFailures(log: TracesOptions["log"]): void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const warn = (message: string): void => {
    if (performance.now() - loggedAt < minWarningIntervalMs) return;
    loggedAt = performance.now();
    log.warn(
      { op: "traces.send", cause: message.slice(0, 500) },
      "spans do not reach the collector at OTEL_EXPORTER_OTLP_ENDPOINT, and are lost",
    );
  };
  const silent = (): void => undefined;
  diag.setLogger(
    { error: warn, warn, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
