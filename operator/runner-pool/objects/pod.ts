import type {
  V1Container,
  V1PodSecurityContext,
  V1PodTemplateSpec,
  V1Probe,
  V1ResourceRequirements,
  V1SecurityContext,
  V1TopologySpreadConstraint,
  V1Volume,
} from "@kubernetes/client-node";
import { amountOf } from "../../../crds/quantity.ts";
import type { RunnerPoolSpec } from "../../../crds/runner-pool.ts";
import type { PodSettings } from "./pod-settings.ts";
import type { Plain } from "./objects.ts";
import { podTls } from "./pod-tls.ts";
import { podSelector, workloadLabels, workloadName } from "./names.ts";

/** Mount path of the pool's Secret; see `secretData`. */
const keysPath = "/keys";
export const credentialsFile = "nats.creds";
const dataPath = "/data";
/** In the network namespace of the pod, which both containers share. Paths between containers do not work in every runtime. */
const sandboxSocket = "@headwater-sandbox";

/** Part of the grace period left for the process to exit after its runs. */
const endingSeconds = 5;

export interface PodInput {
  readonly pool: string;
  readonly spec: RunnerPoolSpec;
  readonly settings: PodSettings;
  /** Changes with the pool's Secret, which a runner reads only at start: the pods are then replaced. */
  readonly secretHash: string;
}

/**
 * The pod of a runner, under the `restricted` Pod Security Standard. The container `runner` has the keys and speaks to NATS. The container
 * `sandbox` runs user code, as another user, and mounts no keys. It starts before the runner and ends after it, since Kubernetes ends
 * sidecars last: a terminating runner finishes its runs.
 */
export function podTemplate(input: PodInput): Plain<V1PodTemplateSpec> {
  const { pool, spec, settings } = input;
  return {
    metadata: {
      labels: { ...settings.podLabels, ...workloadLabels(settings.release, pool) },
      annotations: { ...settings.podAnnotations, "headwater.dev/secret-hash": input.secretHash },
    },
    spec: {
      serviceAccountName: workloadName(pool),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: podSecurity(settings),
      terminationGracePeriodSeconds: graceSeconds(input),
      topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => spread(input, topologyKey)),
      initContainers: [sandboxContainer(input)],
      containers: [runnerContainer(input)],
      volumes: volumes(input),
      ...(settings.imagePullSecrets.length === 0 ? {} : { imagePullSecrets: settings.imagePullSecrets.map((name) => ({ name })) }),
      ...(settings.priorityClassName === undefined ? {} : { priorityClassName: settings.priorityClassName }),
      ...(spec.runtimeClassName === undefined ? {} : { runtimeClassName: spec.runtimeClassName }),
      ...(spec.nodeSelector === undefined ? {} : { nodeSelector: spec.nodeSelector }),
      ...(spec.tolerations === undefined ? {} : { tolerations: spec.tolerations }),
    },
  };
}

function podSecurity({ runAsUser }: PodSettings): Plain<V1PodSecurityContext> {
  return {
    runAsNonRoot: true,
    runAsUser,
    runAsGroup: runAsUser,
    fsGroup: runAsUser,
    fsGroupChangePolicy: "OnRootMismatch",
    seccompProfile: { type: "RuntimeDefault" },
  };
}

function runnerContainer(input: PodInput): Plain<V1Container> {
  const { settings } = input;
  return {
    ...commonOf(input, "runner", environment(input), settings.healthPort),
    resources: resources(settings.runnerResources),
    securityContext: unprivileged,
    // The first start creates the sandbox scripts and connects before the pod counts as alive.
    startupProbe: { httpGet: { path: "/healthz", port: "health" }, periodSeconds: 1, failureThreshold: 120 },
    readinessProbe: { httpGet: { path: "/readyz", port: "health" }, periodSeconds: 2, failureThreshold: 2 },
    livenessProbe: liveness("health"),
    volumeMounts: [
      { name: "keys", mountPath: keysPath, readOnly: true },
      { name: "data", mountPath: dataPath },
      { name: "tmp", mountPath: "/tmp" },
      ...podTls(settings).mounts,
    ],
  };
}

/** Starts sandbox processes for the runner. It sees bundles, and no keys, certificates or settings of NATS. */
function sandboxContainer(input: PodInput): Plain<V1Container> {
  const { settings, spec } = input;
  const { HEADWATER_LOG_LEVEL: logLevel } = settings.environment;
  const env = {
    HEADWATER_ROLES: "sandbox",
    HEADWATER_SANDBOX_SOCKET: sandboxSocket,
    HEADWATER_HEALTH_LISTEN: `0.0.0.0:${settings.sandboxHealthPort}`,
    ...(logLevel === undefined ? {} : { HEADWATER_LOG_LEVEL: logLevel }),
  };
  return {
    ...commonOf(input, "sandbox", env, settings.sandboxHealthPort),
    restartPolicy: "Always",
    resources: resources(settings.resources, spec.resources),
    securityContext: { ...unprivileged, runAsUser: settings.sandboxUser, runAsGroup: settings.sandboxUser },
    livenessProbe: liveness("sandbox-health"),
    volumeMounts: [{ name: "data", mountPath: dataPath, readOnly: true }],
  };
}

function commonOf(
  { settings }: PodInput,
  name: "runner" | "sandbox",
  env: Readonly<Record<string, string>>,
  containerPort: number,
): Plain<V1Container> {
  return {
    name,
    image: settings.image,
    imagePullPolicy: settings.imagePullPolicy,
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    ports: [{ name: name === "runner" ? "health" : "sandbox-health", containerPort, protocol: "TCP" }],
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

const unprivileged: Plain<V1SecurityContext> = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
  privileged: false,
};

const liveness = (port: string): Plain<V1Probe> => ({
  httpGet: { path: "/healthz", port },
  periodSeconds: 10,
  timeoutSeconds: 5,
  failureThreshold: 6,
});

/** A terminating pod keeps its partitions until its runs end, and a run that is cut off runs again. So the period covers the longest run. */
const graceSeconds = ({ spec, settings }: PodInput): number =>
  spec.terminationGracePeriodSeconds ?? settings.runTimeoutSeconds + endingSeconds;

function environment(input: PodInput): Readonly<Record<string, string>> {
  const { pool, spec, settings } = input;
  const egress = [...settings.egressAllow, ...spec.egressAllow].join(",");
  return {
    // Another runtime, such as gVisor, is a kernel of its own, which may know no Landlock.
    HEADWATER_SANDBOX_JAIL: spec.runtimeClassName === undefined ? "required" : "auto",
    ...settings.environment,
    HEADWATER_ROLES: "runner",
    HEADWATER_POOL: pool,
    HEADWATER_DATA: dataPath,
    HEADWATER_KEYS: keysPath,
    HEADWATER_SANDBOX_SOCKET: sandboxSocket,
    HEADWATER_SANDBOX_USER: String(settings.sandboxUser),
    HEADWATER_HEALTH_LISTEN: `0.0.0.0:${settings.healthPort}`,
    HEADWATER_STOP_TIMEOUT: String(Math.max(1, graceSeconds(input) - endingSeconds)),
    NATS_URL: settings.nats.url,
    HEADWATER_NATS_CREDENTIALS: `${keysPath}/${credentialsFile}`,
    ...podTls(settings).environment,
    ...(egress === "" ? {} : { HEADWATER_EGRESS_ALLOW: egress }),
  };
}

function volumes({ pool, settings }: PodInput): Plain<V1Volume[]> {
  return [
    { name: "keys", secret: { secretName: workloadName(pool), defaultMode: 0o440 } },
    { name: "data", emptyDir: { sizeLimit: settings.dataSize } },
    { name: "tmp", emptyDir: { sizeLimit: settings.temporarySize } },
    ...podTls(settings).volumes,
  ];
}

/** Zones are a preference: a cluster with one zone still gets all runners. `Honor` leaves lost and cordoned nodes out of the skew. */
function spread({ pool, settings }: PodInput, topologyKey: string): Plain<V1TopologySpreadConstraint> {
  const isRequired = settings.spread === "required" && topologyKey === "kubernetes.io/hostname";
  return {
    maxSkew: 1,
    topologyKey,
    ...(isRequired ? { whenUnsatisfiable: "DoNotSchedule", nodeTaintsPolicy: "Honor" } : { whenUnsatisfiable: "ScheduleAnyway" }),
    labelSelector: { matchLabels: podSelector(settings.release, pool) },
    matchLabelKeys: ["pod-template-hash"],
  };
}

/**
 * Unset values come from the defaults: without a memory limit user code could exhaust the node. A default request above the pool's own
 * limit is left out: Kubernetes would refuse it, and takes the limit as the request instead.
 */
function resources(
  defaults: NonNullable<RunnerPoolSpec["resources"]>,
  own: RunnerPoolSpec["resources"] = {},
): Plain<V1ResourceRequirements> {
  const limits = { ...defaults.limits, ...own.limits };
  const requests = Object.entries(defaults.requests ?? {}).filter(([name, request]) => {
    const limit = limits[name];
    return limit === undefined || amountOf(request) <= amountOf(limit);
  });
  return { requests: toStrings({ ...Object.fromEntries(requests), ...own.requests }), limits: toStrings(limits) };
}

const toStrings = (quantities: Readonly<Record<string, string | number>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, String(quantity)]));
