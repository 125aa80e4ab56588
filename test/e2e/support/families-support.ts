import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative, sep } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { registryAnswers } from "../../support/npm-registry.ts";
import { until } from "./headwater.ts";
import { withRunWorld, type Answered, type Run, type RunWorld, type Source } from "./run-world.ts";

const root = join(import.meta.dirname, "..", "..", "..", "fixtures", "families");

/** One request that a component made of the double of its service. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of JSON; undefined else. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or what becomes JSON. */
  readonly body?: unknown;
}

/** `METHOD /path`, where `*` stands for one segment; what is there for it answers. */
type Routes = Readonly<Record<string, (asked: Asked) => Answer | Promise<Answer>>>;

/** The double of a service. */
export interface Service {
  readonly url: string;
  readonly asked: Asked[];
  /** Of those so far, `METHOD /path`. */
  calls(): readonly string[];
  close(): Promise<void>;
}

async function startService(routes: Routes): Promise<Service> {
  const asked: Asked[] = [];
  const patterns = Object.entries(routes).map(([route, answer]) => ({
    pattern: new RegExp(`^${route.replaceAll(/[.?+]/g, "\\$&").replaceAll("*", "[^/]+")}$`),
    answer,
  }));
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://service");
      const text = Buffer.concat(chunks).toString();
      const one: Asked = {
        method: request.method ?? "GET",
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        text,
        body: parsed(text),
      };
      asked.push(one);
      const found = patterns.find(({ pattern }) => pattern.test(`${one.method} ${one.path}`));
      void Promise.resolve(found?.answer(one) ?? { status: 404, body: { error: `no ${one.method} ${one.path}` } })
        .catch((error: unknown): Answer => ({ status: 500, body: { error: String(error) } }))
        .then(({ status = 200, headers = {}, body }) => {
          const isText = typeof body === "string";
          response.writeHead(status, { ...(isText || body === undefined ? {} : { "content-type": "application/json" }), ...headers });
          response.end(isText ? body : body === undefined ? "" : JSON.stringify(body));
        });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // Listening on TCP.
    asked,
    calls: () => asked.map(({ method, path }) => `${method} ${path}`),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function parsed(text: string): Asked["body"] {
  try {
    return JSON.parse(text) as Asked["body"]; // The routes know what they are sent.
  } catch {
    return undefined;
  }
}

/** The files of a family by their paths, as they are sent. */
async function filesOf(family: string): Promise<Record<string, string>> {
  const directory = join(root, family);
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const named = paths.map(async (path) => [relative(directory, path).split(sep).join("/"), await readFile(path, "utf8")] as const);
  return Object.fromEntries(await Promise.all(named));
}

interface FamilyWorld extends RunWorld {
  /** A double of the service, closed after the tests. */
  serve(routes: Routes): Promise<Service>;
  /** An account of that app, as a prop takes it. */
  account(app: string, credentials: object): Promise<{ readonly authProvisionId: string }>;
  /** Deploys a source of a family: what the API answered, whatever it is. */
  createOf(family: string, entry: string, props: object): ReturnType<RunWorld["create"]>;
  deployOf(family: string, entry: string, props?: object): Promise<Source>;
  remove(source: Source): Promise<void>;
  /** What it emitted so far, oldest first, once there are as many. */
  events(source: Source, count: number): Promise<readonly unknown[]>;
  logs(source: Source): Promise<string>;
  /** A run that must end well. */
  succeed(event: unknown, source: Source): Promise<Run>;
}

/** Everything that is real but the services. Their packages come from npm: tests are skipped, visibly, where no registry answers. */
export function withFamilies(): FamilyWorld {
  const world = withRunWorld();
  const services: Service[] = [];
  let hasRegistry = false;
  beforeAll(async () => {
    hasRegistry = await registryAnswers();
  }, 60_000);
  beforeEach(({ skip }) => skip(!hasRegistry, "the registry of npm's configuration does not answer"));
  afterAll(async () => {
    for (const service of services) await service.close();
  });
  const { headwater } = world;
  const families: FamilyWorld = {
    ...world,
    serve: async (routes) => {
      const service = await startService(routes);
      services.push(service);
      return service;
    },
    account: async (app, credentials) => {
      const { status, body, text } = await headwater().call<Answered>("POST", "/accounts", { app, credentials });
      expect(status, text).toBe(200);
      return { authProvisionId: body.data.id };
    },
    createOf: async (family, entry, props) =>
      headwater().call("POST", "/sources", {
        component_files: await filesOf(family),
        component_entry: entry,
        configured_props: props,
      }),
    deployOf: async (family, entry, props = {}) => {
      const { status, body, text } = await families.createOf(family, entry, props);
      expect(status, text).toBe(200);
      return { id: body.data.id, endpoint: body.data.configured_props.http?.endpoint_url ?? "" };
    },
    remove: async ({ id }) => {
      const { status, text } = await headwater().call("DELETE", `/sources/${id}`);
      expect(status, text).toBe(204);
    },
    events: async (source, count) => {
      let found: readonly unknown[] = [];
      const isThere = async (): Promise<boolean> => {
        found = (await world.stored(source)).map(({ event }) => event);
        return found.length >= count;
      };
      await until(isThere, `${count} events`, 60_000, () => JSON.stringify(found));
      expect(found).toHaveLength(count);
      return found;
    },
    logs: async ({ id }) => (await headwater().call("GET", `/sources/${id}/logs`)).text,
    succeed: async (event, source) => {
      const run = await world.run(event, source);
      expect(run.error).toBeNull();
      return run;
    },
  };
  return families;
}
