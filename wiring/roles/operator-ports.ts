import { randomBytes } from "node:crypto";
import { customAlphabet } from "nanoid";
import { systemClock } from "../../domain/clock.ts";
import { AppLibrary } from "../../crds/app-library.ts";
import type { App } from "../../domain/app/app.ts";
import type { Commit } from "../../domain/run/commit.ts";
import type { DeploymentEntry, Endpoint, Route } from "../../domain/source/deployment.ts";
import type { VariablesEntry } from "../../domain/variable/variable.ts";
import type { WorkflowEntry } from "../../domain/workflow/deployment.ts";
import { newId } from "../../domain/ids.ts";
import { parseJsonOrNull } from "../../domain/json.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import type { Secrets } from "../../domain/secrets/secrets.ts";
import { buckets, defaultPool } from "../../domain/subjects.ts";
import type { Log } from "../../domain/log.ts";
import type { Histories, OperatorPorts } from "../../operator/ports.ts";
import { createIdClaims } from "../../operator/id-claims.ts";
import type { SourceVersion } from "../../operator/versions.ts";
import type { WorkflowVersion } from "../../operator/versions.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { createOauthService } from "../../platform/http/oauth-service.ts";
import { createTokenRefresher } from "../../platform/http/token-refresher.ts";
import type { RunAnswers } from "../../platform/jetstream/requests/run-answers.ts";
import { createStoredFiles } from "../../platform/jetstream/files/stored-files.ts";
import { createStoredBundles } from "../../platform/jetstream/bundles/stored-bundles.ts";
import { requestBuild, requestComponent } from "../../platform/jetstream/requests/build-requests.ts";
import { deployedIds, listHistories } from "../../platform/jetstream/runs/stored-histories.ts";
import { deleteCommits, lastCommit, lastPosition } from "../../platform/jetstream/runs/commits.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { fencedEntries } from "../../platform/jetstream/buckets/fenced-entries.ts";
import { createConfigurations, createHookInvocations, createTimers } from "../../platform/jetstream/invocations/operator-invocations.ts";
import { createSourceBacklogs } from "../../platform/jetstream/invocations/source-backlogs.ts";
import { waitUntilSeen } from "../../platform/jetstream/members/seen-revisions.ts";
import { endWorkflowQueue } from "../../platform/jetstream/deliveries/workflow-queues.ts";
import type { Database } from "../../platform/postgres/connection.ts";
import type { RegistryEntry } from "../../platform/process/registry.ts";
import { createAccounts } from "../../platform/postgres/accounts/index.ts";
import { createActivity } from "../../platform/postgres/history/activity.ts";
import { createFailingEndpoints } from "../../platform/postgres/history/failing-endpoints.ts";
import { createOutcomes } from "../../platform/postgres/history/outcomes.ts";
import { createHistory } from "../../platform/postgres/history/index.ts";
import { createRegisteredStores } from "../../platform/postgres/data-stores/registered-stores.ts";
import { createReconnectMails } from "../../platform/postgres/mail/reconnect-mails.ts";
import { findPublishedCode } from "../../platform/postgres/publications/publications.ts";
import type { Resources } from "../resources.ts";

/** Shorter than the time that a former leader has to finish its work. */
const refreshTimeoutMs = 8_000;

const randomKey = customAlphabet("0123456789abcdefghijklmnopqrstuvwxyz", 32);

export interface OperatorParts {
  readonly connection: Connection;
  readonly database: Database;
  readonly answers: RunAnswers;
  readonly secrets: Secrets;
  readonly resources: Pick<Resources, "store" | "owners" | "secretValues" | "configMaps">;
  readonly log: Log;
  /** The components that come with Headwater; default: none. */
  readonly registry?: readonly RegistryEntry[];
  /** Private networks that may be reached, as CIDR. */
  readonly egressAllow: readonly string[];
  /** The apps that come with Headwater, by slug; default: none. */
  readonly builtInApps?: ReadonlyMap<string, App>;
  /** Id of the owner whose apps and OAuth clients count for everybody. */
  readonly sharedAppsOwner?: string | undefined;
  /** Default: this process is the only operator. */
  readonly leads?: () => boolean;
}

export function operatorPorts(parts: OperatorParts): OperatorPorts {
  const {
    connection,
    database,
    answers,
    secrets,
    resources,
    log,
    egressAllow,
    registry = [],
    builtInApps = new Map(),
    sharedAppsOwner,
    leads = () => true,
  } = parts;
  const { store, owners, secretValues, configMaps } = resources;
  const egress = createEgress({ allow: egressAllow });
  const own = new Map(
    registry.map(({ key, code, entry, files = {} }) => [key, { code, ...(entry === undefined ? {} : { entry }), files }]),
  );
  return {
    store,
    owners,
    secretValues,
    configMaps,
    ...inPostgres(database),
    events: { record: () => undefined }, // On one machine conditions and the log report it.
    pools: { poolOf: () => defaultPool },
    fetchComponent: (url, owner) => requestComponent(connection.nats, url, { owner }),
    checkHost: (host) => egress.check(host),
    sourceBacklogs: createSourceBacklogs(connection),
    builds: { build: (component, owner) => requestBuild(connection.nats, { ...component, owner }) },
    bundles: createStoredBundles(connection),
    deployments: fencedEntries<DeploymentEntry>(connection, buckets.deployments, { leads }),
    workflowDeployments: fencedEntries<WorkflowEntry>(connection, buckets.deployments, { leads }),
    variableEntries: fencedEntries<VariablesEntry>(connection, buckets.deployments, { leads }),
    endpoints: fencedEntries<Endpoint>(connection, buckets.endpoints, { leads }),
    routes: fencedEntries<Route>(connection, buckets.routes, {
      leads,
      seen: (revision) => waitUntilSeen(connection, buckets.routes, revision),
    }),
    versions: fencedEntries<SourceVersion>(connection, buckets.versions, { leads }),
    workflowVersions: fencedEntries<WorkflowVersion>(connection, buckets.versions, { leads }),
    registry: { find: async (key) => own.get(key) ?? findPublishedCode(database, key) },
    timers: createTimers(connection),
    workflowQueues: { end: (workflow) => endWorkflowQueue(connection, workflow) },
    histories: createHistories(connection, database),
    files: createStoredFiles(connection),
    commits: { position: () => lastPosition(connection) },
    invocations: createHookInvocations(connection, answers),
    configurations: createConfigurations(connection, answers),
    secrets,
    tokenRefresher: createTokenRefresher({ egress, timeoutMs: refreshTimeoutMs }),
    oauthService: createOauthService({ egress, timeoutMs: refreshTimeoutMs }),
    apps: new AppLibrary({
      store,
      builtIn: builtInApps,
      sharedNamespace: async () => (sharedAppsOwner === undefined ? undefined : owners.find(sharedAppsOwner)),
    }),
    clock: systemClock,
    randomBytes,
    randomKey,
    random: Math.random,
    claimId: createIdClaims(),
    newId: (kind) => newId(kind, randomBytes),
    log,
  };
}

/** What the operator reads and writes in Postgres, besides resources and the history. */
const inPostgres = (database: Database) => ({
  memberships: createAccounts(database),
  activity: createActivity(database),
  outcomes: createOutcomes(database),
  failingEndpoints: createFailingEndpoints(database),
  reconnectMails: createReconnectMails(database),
  dataStores: createRegisteredStores(database),
});

function createHistories(connection: Connection, database: Database): Histories {
  const history = createHistory(database);
  return {
    state: async (owner, source) => {
      const { text } = await lastCommit(connection, { owner, source, partition: partitionOf(source) });
      // A runner wrote it, which executes user code. Its owner alone depends on the state.
      return text === undefined ? undefined : (parseJsonOrNull(text) as Commit | null)?.state;
    },
    forget: async (owner, source) => {
      await deleteCommits(connection, { owner, source, partition: partitionOf(source) });
      await history.deleteSource(source);
    },
    list: () => listHistories(connection),
    deployed: () => deployedIds(connection),
  };
}
