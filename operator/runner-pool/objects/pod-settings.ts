import { z } from "zod";

const labelSelector = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(z.looseObject({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() })).optional(),
});

/** Peers that runners may reach, as a NetworkPolicyPeer. */
const peer = z.looseObject({
  podSelector: labelSelector.optional(),
  namespaceSelector: labelSelector.optional(),
  ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).optional() }).optional(),
});
export type NetworkPeer = z.infer<typeof peer>;

const quantities = z.record(z.string(), z.union([z.string(), z.number()]));
const port = z.number().int().min(1).max(65_535);

/** kube-dns by the labels that all distributions keep, and the address of the node-local cache. */
const clusterDns: NetworkPeer[] = [
  { namespaceSelector: {}, podSelector: { matchLabels: { "k8s-app": "kube-dns" } } },
  { ipBlock: { cidr: "169.254.20.10/32" } },
];

/**
 * Settings common to all runner pods of an installation: one JSON document from the chart, because it contains Kubernetes structures too
 * deep for variables.
 */
export const podSettings = z.object({
  /** Namespace of the release, including runner pods. */
  namespace: z.string().min(1),
  /** Label `app.kubernetes.io/instance`: distinguishes installations in one namespace. */
  release: z.string().min(1).default("headwater"),
  /** ConfigMap of the release that owns the objects of all pools: Kubernetes deletes them when the release is uninstalled. */
  ownedBy: z.string().min(1).default("headwater-runner-pods"),
  image: z.string().min(1),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).default("IfNotPresent"),
  /** Names of Secrets in that namespace. */
  imagePullSecrets: z.array(z.string()).default([]),
  /** Numeric, not 0: owner of the files in the image. */
  runAsUser: z.number().int().min(1).default(65_532),
  /** User of the container that runs user code, which must not be able to read what the runner can. */
  sandboxUser: z.number().int().min(1).default(65_533),
  nats: z.object({
    /** Without user or password, which the pool's own Secret contains. */
    url: z.string().min(1),
    /** The NATS servers: pods by label, or addresses as ipBlock. */
    peers: z.array(peer).min(1),
    ports: z.array(port).min(1).default([4_222]),
    /** How runners verify NATS. Secrets are in the same namespace; an empty text means none. */
    tls: z
      .object({
        /** The runners' HEADWATER_NATS_CA: `public`, or the path of `ca.crt` in the volume; empty: no TLS. */
        ca: z.string().default(""),
        /** Secret with the key `ca.crt`. */
        caSecret: z.string().default(""),
        /** Secret with the keys `tls.crt` and `tls.key`. */
        clientSecret: z.string().default(""),
      })
      .prefault({}),
  }),
  dns: z.array(peer).default(clusterDns),
  /** More networks that user code must not reach (CIDRs), such as pod and service networks outside the private ranges. */
  blockedCidrs: z.array(z.string()).default([]),
  /** Do pods have IPv6 addresses? Otherwise policies contain none. */
  ipv6: z.boolean().default(false),
  /** Private networks that user code of every pool may reach (CIDRs). */
  egressAllow: z.array(z.string()).default([]),
  /** The trace collector, if there is one. Its address is in `environment`. */
  collector: z
    .object({
      peers: z.array(peer).default([]),
      ports: z.array(port).default([]),
      /** Secret with the key `ca.crt`: private authorities that verify it. An empty text means none. */
      caSecret: z.string().default(""),
    })
    .prefault({}),
  /** Peers that may read /metrics. Nothing else can reach a runner. */
  scrapedBy: z.array(peer).default([]),
  healthPort: port.default(8_081),
  /** Of the container that runs user code. Only the kubelet reaches it. */
  sandboxHealthPort: port.default(8_082),
  /** Of the container with the keys, the same for all pools. */
  runnerResources: z.object({ requests: quantities.optional(), limits: quantities.optional() }).default({
    requests: { cpu: "50m", memory: "160Mi" },
    limits: { memory: "1Gi" },
  }),
  /**
   * Defaults for pools without resources: of the container that runs user code. Memory bounds the number of sandbox processes: each may take 2 GiB before it is killed. No CPU
   * limit, which would only slow runs down.
   */
  resources: z.object({ requests: quantities.optional(), limits: quantities.optional() }).default({
    requests: { cpu: "250m", memory: "512Mi" },
    limits: { memory: "3Gi" },
  }),
  /** Bundles and code caches. When it is full, the pod is replaced. */
  dataSize: z.string().default("2Gi"),
  temporarySize: z.string().default("256Mi"),
  priorityClassName: z.string().optional(),
  /** Max duration of a run, HEADWATER_RUN_TIMEOUT: a pool's pods may take this long to stop. */
  runTimeoutSeconds: z.number().int().min(1).default(300),
  /** `required`: a pod waits for a node rather than share one with a pod of its pool. */
  spread: z.enum(["preferred", "required"]).default("preferred"),
  podLabels: z.record(z.string(), z.string()).default({}),
  podAnnotations: z.record(z.string(), z.string()).default({}),
  /** More settings of the runners, such as HEADWATER_RUN_TIMEOUT. No secrets: pods can be read with read access to the namespace. */
  environment: z.record(z.string(), z.string()).default({}),
  /** Spec of the RunnerPool `default`: created if missing, and updated until a user changes these fields. Null: do not create it. */
  defaultPool: z.record(z.string(), z.json()).nullable().default({}),
});
export type PodSettings = z.output<typeof podSettings>;
