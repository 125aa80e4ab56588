import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Build } from "../../../domain/component/definition.ts";
import type { PackageListing } from "../../../domain/component/package-listing.ts";
import { Forbidden, InvalidInput, LimitExceeded, Unavailable } from "../../../domain/errors.ts";
import {
  requestBuild,
  requestComponent,
  requestListing,
  serveBuildRequests,
  type BuildRequest,
} from "../../../platform/jetstream/requests/build-requests.ts";
import { startNats, type NatsServer } from "../../../platform/process/nats/nats-server.ts";
import { failure } from "./support.ts";

let directory: string;
let server: NatsServer;
let nats: NatsConnection;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "headwater-builds-"));
  server = await startNats({ dataDirectory: directory });
  const { servers, user, pass } = server.connection as { servers: string; user?: string; pass?: string };
  nats = await connect({ servers, ...(user && pass ? { user, pass } : {}) });
});

afterAll(async () => {
  await nats.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const built: Build = {
  codeHash: "c",
  bundle: "b",
  bundleBytes: 1,
  needsNode: false,
  lockfile: "l".repeat(300_000),
  definition: { name: "x", type: "source", props: [], hooks: [], hasAdditionalProps: false },
};

const noListing = async (name: string, range: string | null): Promise<PackageListing> => ({
  name,
  version: range ?? "1.0.0",
  integrity: "sha512-x",
  kind: "none",
  components: [],
});

async function serve(build: (request: BuildRequest) => Promise<Build>): Promise<{ stop(): Promise<void> }> {
  const serving = await serveBuildRequests(nats, { build, collect: async (url) => ({ code: url }), listPackage: noListing });
  onTestFinished(() => serving.stop());
  return serving;
}

describe("build requests", () => {
  test("transmit code of 1 MiB and return a lockfile", async () => {
    const asked: BuildRequest[] = [];
    await serve(async (request) => {
      asked.push(request);
      return built;
    });
    const request = { code: '"\\n'.repeat(300_000), language: "ts" as const, lockfile: "{}" };
    expect(await requestBuild(nats, request)).toEqual(built);
    expect(asked).toEqual([request]);
  });

  test.each([
    [new InvalidInput("component.js:1:1: no", { code: "syntax_error", details: { line: 1 } })],
    [new LimitExceeded("too large", { code: "code_too_large", details: { limit: 1 } })],
    [new Unavailable("later", { code: "registry_unreachable" })],
    [new Forbidden("not there", { code: "egress_denied" })],
  ])("return errors unchanged: %s", async (thrown) => {
    await serve(() => Promise.reject(thrown));
    const error = await failure(requestBuild(nats, { code: "x" }));
    expect(error.constructor).toBe(thrown.constructor);
    expect(error).toMatchObject({ message: thrown.message, code: thrown.code, status: thrown.status });
    expect(error.details).toEqual(thrown.details);
  });

  test("transmit the files of a component, and return those fetched from a URL", async () => {
    const component = { code: "x", entry: "a/b.mjs", files: { "c.mjs": "y".repeat(500_000), "package.json": "{}" } };
    const asked: unknown[] = [];
    const serving = await serveBuildRequests(nats, {
      build: async (request) => (asked.push(request), built),
      collect: async (url, owner) => (asked.push(url, owner), component),
      listPackage: noListing,
    });
    onTestFinished(() => serving.stop());
    expect(await requestListing(nats, { name: "@a/b", range: "^2" }, { owner: "u_1" })).toMatchObject({ name: "@a/b", version: "^2" });
    expect(await requestComponent(nats, "https://x.test/a.mjs", { owner: "u_1" })).toEqual(component);
    // Other fields of a resource are left out.
    await requestBuild(nats, { ...component, url: "https://x.test/a.mjs" } as typeof component);
    expect(asked).toEqual(["https://x.test/a.mjs", "u_1", component]);
  });

  test("report an unexpected failure as an internal error", async () => {
    await serve(() => Promise.reject(new TypeError("oops")));
    expect(await failure(requestBuild(nats, { code: "x" }))).toMatchObject({
      status: 500,
      message: "the build failed: oops",
    });
  });

  test("reach one of several builders", async () => {
    let count = 0;
    for (const _ of [1, 2, 3])
      await serve(async () => {
        count += 1;
        return built;
      });
    await Promise.all(Array.from({ length: 20 }, () => requestBuild(nats, { code: "x" })));
    expect(count).toBe(20);
  });

  test("fail if no builder runs", async () => {
    expect(await failure(requestBuild(nats, { code: "x" }))).toMatchObject({ status: 503, code: "no_builder" });
  });

  test("fail if a builder does not respond", async () => {
    const { promise, resolve } = Promise.withResolvers<Build>();
    await serve(() => promise);
    expect(await failure(requestBuild(nats, { code: "x" }, { timeoutMs: 100 }))).toMatchObject({
      status: 503,
      code: "builder_timeout",
    });
    resolve(built);
  });

  test("finish before a builder stops", async () => {
    const { promise, resolve } = Promise.withResolvers<Build>();
    const begun = Promise.withResolvers<void>();
    const serving = await serve(() => {
      begun.resolve();
      return promise;
    });
    const asked = requestBuild(nats, { code: "x" });
    await begun.promise;
    const stopping = serving.stop();
    resolve(built);
    await stopping;
    expect(await asked).toEqual(built);
  });
});
