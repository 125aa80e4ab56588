import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative, sep } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { registryAnswers } from "../../support/npm-registry.ts";
import { until } from "../../support/until.ts";
import { withRunWorld, type Answered, type Run, type RunWorld } from "./run-world.ts";
import type { Source } from "../../support/system/sources.ts";

const root = join(import.meta.dirname, "..", "..", "..", "fixtures", "families");

/** A request of a component to the double of its service. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, other values as JSON. */
  readonly body?: unknown;
}

/** Handlers by `METHOD /path`, where `*` matches one segment. */
type Routes = Readonly<Record<string, (asked: Asked) => Answer | Promise<Answer>>>;

/** The double of a service. */
export interface Service {
  readonly url: string;
  readonly asked: Asked[];
  /** All requests so far, as `METHOD /path`. */
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
    return JSON.parse(text) as Asked["body"]; // Each route knows the shape of its requests.
  } catch {
    return undefined;
  }
}

/** The files of a family by path. */
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
  /** Creates an account of the app, and returns the prop value for it. */
  account(app: string, credentials: object): Promise<{ readonly authProvisionId: string }>;
  /** Deploys a source of a family. Returns the API's response, even an error. */
  createOf(family: string, entry: string, props: object): ReturnType<RunWorld["create"]>;
  deployOf(family: string, entry: string, props?: object): Promise<Source>;
  remove(source: Source): Promise<void>;
  /** Its events, oldest first, once there are this many. */
  events(source: Source, count: number): Promise<readonly unknown[]>;
  logs(source: Source): Promise<string>;
  /** Runs it and expects success. */
  succeed(event: unknown, source: Source): Promise<Run>;
}

/** A real system with doubles of the services. Packages come from npm: tests are skipped, visibly, where no registry answers. */
export function withFamilies(): FamilyWorld {
  const world = withRunWorld();
  const services: Service[] = [];
  let hasRegistry = false;
  beforeAll(async () => {
    hasRegistry = await registryAnswers();
  });
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
      const { status, body, text } = await headwater.call<Answered>("POST", "/accounts", { app, credentials });
      expect(status, text).toBe(200);
      return { authProvisionId: body.data.id };
    },
    createOf: async (family, entry, props) =>
      headwater.call("POST", "/sources", {
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
      const { status, text } = await headwater.call("DELETE", `/sources/${id}`);
      expect(status, text).toBe(204);
    },
    events: async (source, count) => {
      let found: readonly unknown[] = [];
      const isThere = async (): Promise<boolean> => {
        found = (await world.stored(source)).map(({ event }) => event);
        return found.length >= count;
      };
      await until(isThere, `${count} events`, { more: () => JSON.stringify(found) });
      expect(found).toHaveLength(count);
      return found;
    },
    logs: async ({ id }) => (await headwater.call("GET", `/sources/${id}/logs`)).text,
    succeed: async (event, source) => {
      const run = await world.run(event, source);
      expect(run.error).toBeNull();
      return run;
    },
  };
  return families;
}
