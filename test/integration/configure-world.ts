import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll } from "vitest";
import { componentKind } from "../../crds/component.ts";
import { systemClock } from "../../domain/clock.ts";
import type { ConfigureCall } from "../../domain/component/configure.ts";
import { HeadwaterError, NotFound } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { defaultPool, partitionCount } from "../../domain/subjects.ts";
import { Configurator } from "../../operator/configure/configurator.ts";
import { sealSourceDraft } from "../../operator/configure/source-draft.ts";
import { sealDraft } from "../../operator/workflow/draft.ts";
import { RunAnswers } from "../../platform/jetstream/requests/run-answers.ts";
import { requestConfigure, serveConfigureRequests } from "../../platform/jetstream/requests/configure-requests.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import type { Stoppable } from "../../platform/jetstream/connection/link.ts";
import { createPoolSecrets, createSecrets, ensurePoolKeys } from "../../platform/secrets/secrets.ts";
import { startRunner, type Runner } from "../../runner/start.ts";
import { createConfigurations } from "../../platform/jetstream/invocations/operator-invocations.ts";
import { createRunnerPorts } from "../../platform/jetstream/invocations/runner-ports.ts";
import { MemoryStore } from "../operator/memory-store.ts";
import { startSandbox, type SandboxFixture } from "../sandbox/sandbox-fixture.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { withJetStream, withPoolRequests } from "./jetstream/support.ts";

/** All parts of a call except HTTP: request, operator, stream, runner, isolate and back; resources are in memory. */
export const namespace = "hw-u-tester";
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
export interface ConfigureWorld {
  readonly connection: Connection;
  readonly store: MemoryStore;
  readonly answers: RunAnswers;
  /** Stops the operator. */
  stopServing(): Promise<void>;
  /** A test has a runner only if it starts one. */
  wakeRunner(): Promise<void>;
  /** A component in the state after its build. @returns its name */
  save(code: string): Promise<string>;
  ask(component: string, call: ConfigureCall, more?: object): ReturnType<typeof requestConfigure>;
  /** What the runner's pool opens of a sealed text. */
  open(sealed: string): Promise<string>;
}

/** Limit of an uninterrupted stretch of computing. */
export const entryMs = 2_000;

export function withConfigureWorld(): ConfigureWorld {
  const nats = withJetStream({ partitions: partitionCount });
  withPoolRequests(nats);
  const paths = new Map<string, string>();
  const store = new MemoryStore();
  let keys: TemporaryDirectory;
  let fixture: SandboxFixture;
  let answers: RunAnswers;
  let serving: Stoppable;
  let runner: Runner | undefined;

  beforeAll(async () => {
    keys = await temporaryDirectory("configure");
    await ensurePoolKeys(keys.path, defaultPool);
    fixture = await startSandbox({ timeLimits: { entryMs } });
    answers = new RunAnswers(nats.connection);
    answers.start();
    const ports = {
      store,
      owners: {
        ownerOf: async (asked) => (asked === namespace ? "u_tester" : undefined),
        find: async () => namespace,
        ensure: async () => namespace,
      },
      secretValues: {
        keep: async () => ({}),
        read: async (_namespace, { secretKeyRef }) => {
          if (secretKeyRef?.name === "missing") throw new NotFound("Secret missing does not exist");
          return `text of ${secretKeyRef?.name ?? ""}`;
        },
        adopt: async () => undefined,
        settle: async () => undefined,
      },
      secrets: await createSecrets(keys.path),
      pools: { poolOf: () => defaultPool },
      configurations: createConfigurations(nats.connection, answers),
      clock: systemClock,
      newId: (kind) => newId(kind, randomBytes),
      log: silent,
    } satisfies ConstructorParameters<typeof Configurator>[0];
    const configurator = new Configurator(ports);
    serving = await serveConfigureRequests(nats.connection, (request) => configurator.answer(request), {
      sealDraft: (request) => sealDraft(request, ports),
      sealSourceDraft: (request) => sealSourceDraft(request, ports),
    });
  });

  afterAll(async () => {
    await serving.stop();
    answers.stop();
    await fixture.stop();
    await keys.remove();
  });

  afterEach(async () => {
    await runner?.stop(AbortSignal.timeout(1_000));
    runner = undefined;
  });

  async function wakeRunner(): Promise<void> {
    runner = await startRunner(
      { runner: `r${randomBytes(4).toString("hex")}`, pool: defaultPool, runTimeoutMs: 60_000, memoryMb: 128, stateCacheBytes: 2 ** 20 },
      {
        ...createRunnerPorts(nats.connection, defaultPool),
        sandbox: { ...fixture.sandbox, stop: async () => undefined },
        bundles: {
          path: async (hash) => {
            const path = paths.get(hash);
            if (path === undefined) throw new NotFound(`bundle ${hash} does not exist`);
            return path;
          },
        },
        stacks: { map: async (_bundle, stack) => stack },
        secrets: await createPoolSecrets(await ensurePoolKeys(keys.path, defaultPool)),
        clock: systemClock,
        randomId: () => randomBytes(10).toString("hex"),
        log: silent,
      },
    );
  }

  let saved = 0;

  async function save(code: string): Promise<string> {
    const bundle = await fixture.bundle(code);
    paths.set(bundle.hash, bundle.path);
    const inspection = await fixture.sandbox.inspect({ bundle, timeoutMs: 60_000 });
    if (inspection.outcome === "rejected") throw new Error(inspection.message);
    const { definition } = inspection;
    const name = `component-${++saved}`;
    const created = await store.create(componentKind, { namespace, name, spec: { code } });
    const build = { codeHash: "c", bundle: bundle.hash, bundleBytes: 1, needsNode: bundle.needsNode, definition, lockfile: null };
    await store.updateStatus(componentKind, { ...created, status: { id: `sc_${saved}`, observedGeneration: 1, build } });
    return name;
  }

  return {
    store,
    wakeRunner,
    save,
    get connection() {
      return nats.connection;
    },
    get answers() {
      return answers;
    },
    open: async (sealed) => (await createPoolSecrets(await ensurePoolKeys(keys.path, defaultPool))).open(sealed),
    stopServing: () => serving.stop(),
    ask: (component, call, more = {}) => requestConfigure(nats.connection.nats, { namespace, component, call, ...more }),
  };
}

export const options = (prop: string): ConfigureCall => ({ kind: "options", prop, page: 0 });

export async function failure(asked: Promise<unknown>): Promise<readonly unknown[]> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof HeadwaterError ? [error.status, error.code, error.message] : ["no error of ours", String(error)];
}
