import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Build, ComponentDefinition } from "../../domain/component/definition.ts";
import { readRegistry, type RegistryEntry } from "../../platform/process/registry.ts";
import type { Bundle, Execution, ExecuteRequest, FlowRequest } from "../../runner/sandbox/port.ts";
import { runtimeProps } from "../../domain/component/prop-values.ts";
import { type BuilderFixture, openBuilderFixture } from "../sandbox/builder-fixture.ts";
import { ended, errorOf, requestFor } from "../sandbox/sandbox-fixture.ts";

export const registryDirectory = join(import.meta.dirname, "../../registry");

/** One of the registry's components, built by the real builder, that runs in the real sandbox and remembers, as a source does. */
export interface RegistrySource {
  /** Values of `configured_props`; defaults are laid below them. */
  props: Readonly<Record<string, unknown>>;
  /** Runs it, or a hook. @throws what it threw */
  run(event?: unknown, entry?: ExecuteRequest["entry"]): Promise<Ran>;
  /** What a request to its address is answered. */
  request(request?: HttpRequest): Promise<Ran & { readonly status: number; readonly answer: unknown }>;
}

export interface HttpRequest {
  readonly method?: string;
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly bodyRaw?: string;
  readonly bodyBase64?: string;
}

export interface Ran {
  readonly events: readonly { readonly event: unknown; readonly id?: string; readonly summary?: string; readonly channel?: string }[];
}

/** What an action did as a step of a workflow. */
export interface StepRan {
  readonly result: unknown;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly flow: FlowRequest | null;
  readonly sends: readonly { readonly kind: string; readonly argument: unknown }[];
  readonly response: unknown;
}

export interface RegistryBench {
  readonly entries: readonly RegistryEntry[];
  build(entry: RegistryEntry): Promise<Build>;
  /** Runs an action with props, which may have expressions, for the event of a trigger. @throws what it threw */
  step(key: string, props?: Readonly<Record<string, unknown>>, event?: unknown): Promise<StepRan>;
  source(key: string, props?: Readonly<Record<string, unknown>>): Promise<RegistrySource>;
}

export function withRegistry(): RegistryBench {
  let opened: BuilderFixture;
  let entries: readonly RegistryEntry[] = [];
  beforeAll(async () => {
    entries = await readRegistry(registryDirectory);
    opened = await openBuilderFixture();
  });
  afterAll(() => opened.stop());
  let sources = 0;
  const build = (entry: RegistryEntry): Promise<Build> => opened.builder.build(entry);
  const bundleOf = async (key: string): Promise<{ bundle: Bundle; definition: ComponentDefinition }> => {
    const entry = entries.find((each) => each.key === key);
    if (entry === undefined) throw new Error(`there is no ${key}`);
    const built = await build(entry);
    return { bundle: opened.bundleOf(built), definition: built.definition };
  };
  return {
    get entries() {
      return entries;
    },
    build,
    step: async (key, props = {}, event = null) => {
      const { bundle, definition } = await bundleOf(key);
      const execution = await opened.fixture.sandbox.execute(
        requestFor(bundle, {
          source: `p_${++sources}`,
          event: JSON.stringify(event),
          props: JSON.stringify(runtimeProps(definition, props)),
          action: {
            steps: JSON.stringify({ trigger: { event } }),
            context: "{}",
            resumeUrl: "http://endpoint.test/x/resume",
            cancelUrl: "http://endpoint.test/x/cancel",
          },
        }),
      );
      if (execution.outcome !== "returned") throw new Error(JSON.stringify(errorOf(execution)));
      const { exports = {}, flow = null, sends = [] } = execution.action ?? {};
      return {
        result: JSON.parse(execution.result ?? "null") as unknown,
        exports: Object.fromEntries(Object.entries(exports).map(([name, text]) => [name, JSON.parse(text) as unknown])),
        flow,
        sends: sends.map(({ kind, argument }) => ({ kind, argument: JSON.parse(argument) as unknown })),
        response: execution.response,
      };
    },
    source: async (key, props = {}) => {
      const { bundle, definition } = await bundleOf(key);
      const source = `dc_${++sources}`;
      let db: ExecuteRequest["db"] = {};
      const execute = async (event: unknown, run: ExecuteRequest["entry"]): Promise<Execution> => {
        const execution = await opened.fixture.sandbox.execute(
          requestFor(bundle, {
            source,
            entry: run,
            event: JSON.stringify(event ?? null),
            props: JSON.stringify(runtimeProps(definition, made.props)),
            db,
            endpoint: "http://endpoint.test/x",
          }),
        );
        if (execution.outcome !== "returned") throw new Error(JSON.stringify(errorOf(execution)));
        db = changed(db, execution.db);
        return execution;
      };
      const made: RegistrySource = {
        props,
        run: async (event, run = "run") => ({ events: eventsOf(await execute(event, run)) }),
        request: async (request = {}) => {
          const execution = await execute(httpEvent(request), "run");
          const { response } = ended(execution);
          if (response === null) throw new Error("it did not respond");
          return { events: eventsOf(execution), status: response.status, answer: parse(response.body) };
        },
      };
      return made;
    },
  };
}

function changed(
  db: ExecuteRequest["db"],
  changes: Readonly<Record<string, Readonly<Record<string, string | null>>>>,
): ExecuteRequest["db"] {
  const props = Object.keys({ ...db, ...changes });
  return Object.fromEntries(
    props.map((prop) => {
      const entries = Object.entries({ ...db[prop], ...changes[prop] });
      return [prop, Object.fromEntries(entries.flatMap(([key, text]) => (text === null ? [] : [[key, text]])))];
    }),
  );
}

function eventsOf(execution: Execution): Ran["events"] {
  return ended(execution)
    .emits.toSorted((a, b) => (a.ts ?? a.at) - (b.ts ?? b.at))
    .map(({ payload, id, summary, name }) => ({
      event: JSON.parse(payload) as unknown,
      ...(id === undefined ? {} : { id: String(id) }),
      ...(summary === undefined ? {} : { summary }),
      ...(name === undefined ? {} : { channel: name }),
    }));
}

function httpEvent({ method = "POST", path = "/", query = {}, headers = {}, ...body }: HttpRequest): object {
  return { method, path, url: `http://endpoint.test/x${path}`, query, headers, client_ip: "192.0.2.1", ...body };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What a server of the test answers. */
export interface Served {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A server on loopback, closed after the last test. `asked` has every request. */
export function withServer(): { url: string; answer: (request: IncomingMessage) => Served; readonly asked: IncomingMessage[] } {
  const served = { url: "", answer: (): Served => ({}), asked: [] as IncomingMessage[] };
  const server = createServer((request, response) => {
    served.asked.push(request);
    request.resume();
    const { status = 200, headers = {}, body = "" } = (served.answer as (request: IncomingMessage) => Served)(request);
    response.writeHead(status, headers).end(body);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    served.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  });
  afterAll(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return served;
}
