import { z } from "zod";

const labelSelector = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(z.looseObject({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() })).optional(),
});

/** Who may be talked to, as a NetworkPolicyPeer says it. */
const peer = z.looseObject({
  podSelector: labelSelector.optional(),
  namespaceSelector: labelSelector.optional(),
  ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).optional() }).optional(),
});
export type NetworkPeer = z.infer<typeof peer>;

const quantities = z.record(z.string(), z.union([z.string(), z.number()]));
const port = z.number().int().min(1).max(65_535);

/** kube-dns by the labels that every distribution keeps, and the node-local cache's address. */
const clusterDns: NetworkPeer[] = [
  { namespaceSelector: {}, podSelector: { matchLabels: { "k8s-app": "kube-dns" } } },
  { ipBlock: { cidr: "169.254.20.10/32" } },
];

/**
 * What all runner pods of an installation have in common: one JSON document, made by whoever installs (the chart), since it is of
 * the shapes of Kubernetes and too deep for variables.
 */
export const podSettings = z.object({
  /** Where the operator and everything of the release is; runner pods too. */
  namespace: z.string().min(1),
  /** Tells installations in one namespace apart: the label `app.kubernetes.io/instance`. */
  release: z.string().min(1).default("headwater"),
  image: z.string().min(1),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).default("IfNotPresent"),
  /** Names of Secrets of that namespace. */
  imagePullSecrets: z.array(z.string()).default([]),
  /** Numeric, not 0: what the image's files are made for. */
  runAsUser: z.number().int().min(1).default(65_532),
  nats: z.object({
    /** Without user or password: those come from the pool's own Secret. */
    url: z.string().min(1),
    /** Where its servers are: pods by label, or addresses as ipBlock. */
    peers: z.array(peer).min(1),
    ports: z.array(port).min(1).default([4_222]),
  }),
  dns: z.array(peer).default(clusterDns),
  /** Further networks that user code must not reach: those of pods and services, when they are not private addresses anyhow (CIDRs). */
  blockedCidrs: z.array(z.string()).default([]),
  /** Do pods have IPv6 addresses too? Otherwise the policies of runners name none. */
  ipv6: z.boolean().default(false),
  /** Private networks that the user code of every pool may reach (CIDRs). */
  egressAllow: z.array(z.string()).default([]),
  /** Where traces go, when they go anywhere; the address is in `environment`. */
  collector: z.object({ peers: z.array(peer).default([]), ports: z.array(port).default([]) }).default({ peers: [], ports: [] }),
  /** Who may read /metrics; nobody can reach a runner otherwise. */
  scrapedBy: z.array(peer).default([]),
  healthPort: port.default(8_081),
  /**
   * Of a pool that sets none. Memory bounds how many sandbox processes a runner has: each may take 2 GiB before it is ended for it.
   * No limit of CPU, which would only make runs slower.
   */
  resources: z.object({ requests: quantities.optional(), limits: quantities.optional() }).default({
    requests: { cpu: "250m", memory: "512Mi" },
    limits: { memory: "3Gi" },
  }),
  /** Bundles and code caches; full, the pod is replaced. */
  dataSize: z.string().default("2Gi"),
  temporarySize: z.string().default("256Mi"),
  priorityClassName: z.string().optional(),
  podLabels: z.record(z.string(), z.string()).default({}),
  podAnnotations: z.record(z.string(), z.string()).default({}),
  /** Further settings of the runners, such as HEADWATER_RUN_TIMEOUT. No secrets: whoever may read pods can read them. */
  environment: z.record(z.string(), z.string()).default({}),
  /**
   * Spec of the RunnerPool `default`: made when there is none, and followed as long as nobody else changes these fields. Null: the
   * pool is somebody else's to make.
   */
  defaultPool: z.record(z.string(), z.json()).nullable().default({}),
});
export type PodSettings = z.output<typeof podSettings>;
