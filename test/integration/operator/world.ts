import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import type { ComponentCode } from "../../../domain/component/component-code.ts";
import { componentKind } from "../../../crds/component.ts";
import { finalizer, labels } from "../../../crds/resource.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { defaultSettings, sourceKind, type SourceSpec, type SourceResource } from "../../../crds/source.ts";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { Build, ComponentDefinition } from "../../../domain/component/definition.ts";
import { hasMoved } from "../../../domain/source/deployment.ts";
import { Conflict, InvalidInput } from "../../../domain/errors.ts";
import { namespaceOfOwner, newId, resourceNameOf } from "../../../domain/ids.ts";
import { decodePack, type Invocation } from "../../../domain/invocation/invocation.ts";
import type { Hook } from "../../../domain/trigger.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, partitionCount, streams as names, waitingFilter, waitingSubject } from "../../../domain/subjects.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { RunAnswers, sendAnswer } from "../../../platform/jetstream/requests/run-answers.ts";
import { appendCommit, lastCommit } from "../../../platform/jetstream/runs/commits.ts";
import type { Stoppable } from "../../../platform/jetstream/connection/link.ts";
import { readPartition } from "../../../platform/jetstream/read/partition-reader.ts";
import type { NewPublication } from "../../../api/resources/library/ports.ts";
import { createPublications } from "../../../platform/postgres/publications/publications.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createSecrets } from "../../../platform/secrets/secrets.ts";
import { operatorPorts } from "../../../wiring/roles/operator-ports.ts";
import { resourcesOnOneMachine, type ResourceParts, type Resources } from "../../../wiring/resources.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { withJetStream } from "../jetstream/support.ts";

export const owner = "u_tester000001";
const defaultNamespace = namespaceOfOwner(owner);
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

export const definition: ComponentDefinition = {
  name: "Everything",
  type: "source",
  props: [
    { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 3600 } },
    { name: "http", type: "$.interface.http" },
    { name: "note", type: "string", optional: true },
  ],
  hooks: ["deploy", "activate", "deactivate"],
  hasAdditionalProps: false,
};

/** The ports of stored resources, and how to release them. */
export type WorldResources = Pick<Resources, "store" | "owners" | "secretValues" | "configMaps"> & {
  readonly release?: () => Promise<void>;
};

export interface OperatorWorldOptions {
  readonly owner?: string;
  /** Postgres unless given. */
  readonly resources?: (parts: ResourceParts) => Promise<WorldResources>;
  /** Builds code; see {@link OperatorWorld} for the default. */
  readonly build?: (code: string) => Promise<Build>;
  /** Networks that webhooks may use. */
  readonly egressAllow?: readonly string[];
}

export interface OperatorWorld {
  readonly ports: OperatorPorts;
  /** Postgres as the delivery role sees it. */
  readonly delivery: Database;
  readonly keysDirectory: string;
  /** Runs no hooks while it is set, as without a runner. */
  readonly runners: { gone: boolean };
  /** Events that the operator recorded, as `<kind>/<name> <reason>`. */
  readonly recordedEvents: string[];
  /** Source code by url. */
  readonly addresses: Map<string, string | ComponentCode>;
  /** Hooks that ran, by source, in order. */
  readonly ran: Map<string, string[]>;
  /** The same as `<hook> <note>`, the note being a prop of the version that ran it. */
  readonly ranOn: Map<string, string[]>;
  /** Hooks that throw: `<hook>`, or `<hook> <note>` for versions with that note. */
  readonly failing: Set<string>;
  /** Subjects of schedules of a source or workflow. */
  timers(source: string): Promise<readonly string[]>;
  /** Queued messages of workflows. */
  readonly queues: { add(workflow: string): Promise<void>; length(workflow: string): Promise<number> };
  createSource(spec?: Partial<SourceSpec>): Promise<SourceResource>;
  /** As the API does for an admin. */
  publish(version: NewPublication): Promise<void>;
}

/** Real Postgres, real streams, the real ports, and a responder that runs hooks like a runner. */
export function withOperatorWorld(options: OperatorWorldOptions = {}): OperatorWorld {
  const whose = options.owner ?? owner;
  const postgres = withMigratedPostgres();
  const streams = withJetStream({ partitions: partitionCount });
  const ran = new Map<string, string[]>();
  const ranOn = new Map<string, string[]>();
  const failing = new Set<string>();
  const runners = { gone: false };
  const recordedEvents: string[] = [];
  const addresses = new Map<string, string | ComponentCode>();
  let world: {
    ports: OperatorPorts;
    database: Database;
    delivery: Database;
    answers: RunAnswers;
    readings: Stoppable[];
    keysDirectory: string;
    remove: () => Promise<unknown>;
  };

  beforeAll(async () => {
    const database = createDatabase({ url: postgres.urlOf("operator") });
    const directory = await temporaryDirectory("keys");
    const answers = new RunAnswers(streams.connection);
    answers.start();
    const secrets = await createSecrets(directory.path);
    const resources: WorldResources = await (options.resources ?? (async (parts: ResourceParts) => resourcesOnOneMachine(parts)))({
      database,
      secrets,
    });
    const ports: OperatorPorts = {
      ...operatorPorts({
        connection: streams.connection,
        database,
        answers,
        secrets,
        resources,
        log: silent,
        egressAllow: options.egressAllow ?? [],
      }),
      builds: { build: ({ code }) => (options.build ?? (async (text) => buildOf(text)))(code) },
      events: { record: ({ kind, metadata }, { reason }) => void recordedEvents.push(`${kind}/${metadata.name} ${reason}`) },
      fetchComponent: async (url) => {
        const text = addresses.get(url);
        if (text === undefined) throw new InvalidInput(`'${url}' responded with 404: use an address of a component's code`);
        return typeof text === "string" ? { code: text } : text;
      },
    };
    const readings = await Promise.all(
      Array.from({ length: partitionCount }, (_, partition) =>
        readPartition({
          connection: streams.connection,
          pool: "default",
          partition,
          onMessage: (message) => void answer(message.text()).then(() => message.ack()),
        }),
      ),
    );
    world = {
      ports,
      database,
      delivery: createDatabase({ url: postgres.urlOf("delivery") }),
      answers,
      readings,
      keysDirectory: directory.path,
      remove: () => Promise.all([resources.release?.(), directory.remove()]),
    };
  });
  afterAll(async () => {
    await Promise.all(world.readings.map((reading) => reading.stop()));
    world.answers.stop();
    await Promise.all([world.database.close(), world.delivery.close()]);
    await world.remove();
  });

  async function answer(text: string): Promise<void> {
    if (runners.gone) return;
    for (const invocation of decodePack(text))
      if (invocation.hook !== undefined && invocation.run !== undefined) await runHook(invocation, invocation.hook, invocation.run);
  }

  async function runHook(invocation: Invocation, hook: Hook, run: string): Promise<void> {
    const { source, generation = 0 } = invocation;
    const ref = { owner: whose, source, partition: partitionOf(source) };
    const last = await lastCommit(streams.connection, ref);
    const state = last.text === undefined ? emptyState : (JSON.parse(last.text) as Commit).state;
    if (state.hooks[hook]?.run === run) return;
    const entry = await world.ports.deployments.get(deploymentKey(defaultPool, source));
    const on = `${hook} ${entry === undefined || hasMoved(entry) ? "" : String(entry.props["note"])}`;
    const error = failing.has(hook) || failing.has(on) ? { name: "Error", message: `${hook} fails` } : null;
    ranOn.set(source, [...(ranOn.get(source) ?? []), on]);
    const before = state.hooks[hook]?.generation === generation ? state.hooks[hook].attempts : 0;
    ran.set(source, [...(ran.get(source) ?? []), `${hook} ${generation}`]);
    const summary = {
      id: run,
      trigger: "hook",
      hook,
      generation,
      startedAt: 0,
      durationMs: 0,
      cpuMs: 0,
      result: null,
    } as const;
    const commit: Commit = {
      source,
      owner: whose,
      deployment: "d_1",
      run: summary,
      events: [],
      logs: [],
      error,
      state: { ...state, hooks: { ...state.hooks, [hook]: { generation, run, attempts: before + 1, error } } },
    };
    await appendCommit(streams.connection, ref, JSON.stringify(commit), last.sequence);
    if (invocation.answerTo !== undefined)
      sendAnswer(streams.connection, invocation.answerTo, {
        kind: "run",
        run: { ...summary, source, eventIds: [], logs: [], error },
      });
  }

  return {
    get ports() {
      return world.ports;
    },
    get delivery() {
      return world.delivery;
    },
    get keysDirectory() {
      return world.keysDirectory;
    },
    ran,
    ranOn,
    failing,
    runners,
    recordedEvents,
    addresses,
    timers: async (source) =>
      Object.keys(
        (await streams.connection.manager.streams.info("INVOCATIONS", { subjects_filter: `timer.${source}.>` })).state.subjects ?? {},
      ),
    queues: {
      add: async (workflow) => {
        await streams.connection.publisher.publish(waitingSubject(workflow, "u_1", 0), "{}");
      },
      length: async (workflow) => {
        const { state } = await streams.connection.manager.streams.info(names.workflows, { subjects_filter: waitingFilter(workflow) });
        return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
      },
    },
    publish: async (version) => {
      const database = createDatabase({ url: postgres.urlOf("api") });
      await createPublications(database).publish(version);
      await database.close();
    },
    createSource: async (spec = {}) => {
      const { store } = world.ports;
      const hasCode = spec.code !== undefined || spec.codeFrom !== undefined || spec.url !== undefined;
      const code = hasCode ? {} : { componentRef: { name: await createComponent(store) } };
      const id = newId("source", randomBytes);
      return store.create(sourceKind, {
        namespace: defaultNamespace,
        name: resourceNameOf(id),
        labels: { [labels.id]: id },
        finalizers: [finalizer],
        spec: {
          name: "Everything",
          ...code,
          ...defaultSettings,
          ...spec,
        },
      });
    },
  };
}

async function createComponent(store: ResourceStore): Promise<string> {
  const id = newId("component", randomBytes);
  const spec = { code: "export default {}" };
  const component = await store.create(componentKind, {
    namespace: defaultNamespace,
    name: resourceNameOf(id),
    spec,
    labels: { [labels.id]: id },
  });
  const status = { id, build: buildOf(spec.code), observedGeneration: 1 };
  await store.updateStatus(componentKind, { ...component, status }).catch((error: unknown) => {
    if (!(error instanceof Conflict)) throw error; // Another operator of the test has built it first.
  });
  return component.metadata.name;
}

/**
 * Code with the word `broken` cannot be built; with `secret` it has a secret prop `token`; with `action` it is an action with the props
 * `text`, `count` and, with `secret`, `token`.
 */
function buildOf(code: string): Build {
  if (code.includes("broken")) throw new InvalidInput("the component cannot be evaluated: SyntaxError: it is broken");
  const hash = createHash("sha256").update(code).digest("hex");
  if (code.includes("action")) return actionOf(code, hash);
  const token = { name: "token", type: "string", secret: true };
  const props = code.includes("secret") ? [...definition.props, token] : definition.props;
  return { codeHash: hash, bundle: hash, bundleBytes: 1, needsNode: false, definition: { ...definition, props }, lockfile: null };
}

function actionOf(code: string, hash: string): Build {
  const props = [
    { name: "text", type: "string", optional: true },
    { name: "count", type: "integer", optional: true },
    // Of steps that control others.
    ...(code.includes("this.value") ? [{ name: "value", type: "any", optional: true }] : []),
    ...(code.includes("secret") ? [{ name: "token", type: "string", secret: true }] : []),
    ...(code.includes("account") ? [{ name: "shop", type: "app", app: "shop" }] : []),
  ];
  const [, key] = /key: "([^"]+)"/.exec(code) ?? [];
  const action = {
    name: "Act",
    type: "action",
    props,
    hooks: [],
    hasAdditionalProps: false,
    ...(key === undefined ? {} : { key }),
  } as const;
  return { codeHash: hash, bundle: hash, bundleBytes: 1, needsNode: false, definition: action, lockfile: null };
}
