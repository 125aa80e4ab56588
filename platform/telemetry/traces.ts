import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type SpanContext, type Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Span, SpanOptions, Traces } from "../../domain/traces.ts";

export interface TracesOptions {
  /** Base address of a collector that takes OTLP as JSON over HTTP, `http://collector:4318`; what it is to be told with each request is in OTEL_EXPORTER_OTLP_HEADERS. */
  readonly endpoint: string;
  /** Share of the traces begun here that are recorded, 0 to 1. Those that come from elsewhere are recorded as their callers decided. */
  readonly share: number;
  /** Unless OTEL_SERVICE_NAME says otherwise. */
  readonly service: string;
  readonly version: string;
  readonly log: { warn(fields: object, message: string): void };
}

export interface StartedTraces extends Traces {
  /** Sends what has not been sent, for a moment at most. */
  stop(): Promise<void>;
}

const sendEveryMs = 1_000;
/** While the collector is away, so many wait; then more are lost. */
const mostWaiting = 8_192;
const farewellMs = 2_000;
const tellAgainMs = 60_000;

/** Spans, and a collector to which they go in batches. A collector that is slow or away costs spans and nothing else. */
export function startTraces({ endpoint, share, service, version, log }: TracesOptions): StartedTraces {
  tellOfFailures(log);
  const own = resourceFromAttributes({ "service.name": service, "service.version": version, "service.instance.id": crypto.randomUUID() });
  const provider = new TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }),
        scheduledDelayMillis: sendEveryMs,
        maxQueueSize: mostWaiting,
      }),
    ],
  });
  const tracer = provider.getTracer("headwater", version);
  return {
    start: (name, options) => startSpan(tracer, name, options),
    stop: () => Promise.race([provider.shutdown().catch(() => undefined), after(farewellMs)]),
  };
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
  // What is not recorded is no place to go on from: then the last one that may be is passed on.
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

/** Of a text that `parseTraceparent` let pass. */
function contextOf(traceparent: string): SpanContext {
  const [, traceId = "", spanId = "", flags = "00"] = traceparent.split("-");
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}

/** The SDK tells of each batch that is lost: once a minute is enough. */
function tellOfFailures(log: TracesOptions["log"]): void {
  let toldAt = Number.NEGATIVE_INFINITY;
  const tell = (message: string): void => {
    if (performance.now() - toldAt < tellAgainMs) return;
    toldAt = performance.now();
    log.warn(
      { op: "traces.send", cause: message.slice(0, 500) },
      "spans do not reach the collector at OTEL_EXPORTER_OTLP_ENDPOINT, and are lost",
    );
  };
  const silent = (): void => undefined;
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
