import { defaultKeptMeasures, type KeptMeasures } from "../domain/measures/steps.ts";
import { noProxies, type TrustedProxies } from "../domain/client-address.ts";

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface ApiConfig {
  readonly listen: ListenAddress;
  /** An address that has the admin API beside everything else, which `listen` then does not have. Absent: `listen` has it. */
  readonly adminListen?: ListenAddress;
  /** How long a request waits for its source, subscription or component to be ready. */
  readonly deployTimeoutMs: number;
  /** How long DELETE waits until a resource is deleted; the deletion continues after that. */
  readonly deletionTimeoutMs: number;
  /** How long a request waits for a manual run before it returns the run's id instead. */
  readonly runTimeoutMs: number;
  /** How long the response to a run waits until the history has the run. */
  readonly recordTimeoutMs: number;
  /** Maximum bytes of a request body. */
  readonly bodyBytes: number;
  /** Maximum bytes of a body that may contain a component's code or an event: 1 MiB, plus room for JSON escapes. */
  readonly codeBodyBytes: number;
  /** Maximum bytes of a component's code as UTF-8. */
  readonly codeBytes: number;
  /** Burst per API key, refilled evenly over the window. */
  readonly rateLimit: RateLimit;
  /** Failed authentications, per address. */
  readonly failureLimit: RateLimit;
  /** Maximum live streams of one user with all keys, in each process; also at most a quarter of the connections. */
  readonly streamsPerUser: number;
  /** Maximum live searches of one user with all keys, and of all users, in each process. They count as live streams too. */
  readonly liveSearches: { readonly perUser: number; readonly total: number };
  /** What one owner may store in resources. */
  readonly storage: { readonly resources: number; readonly bytes: number };
  /** How far back metrics can be read, by step. */
  readonly keptMeasures: KeptMeasures;
  /** Token of the admin API; absent: there is no admin API. */
  readonly adminToken?: string;
  /** Whether the API's address, which may be public, serves `/metrics` too. */
  readonly servesMetrics: boolean;
  readonly trustedProxies: TrustedProxies;
  readonly maxConnections: number;
  /** Base URL of the API, without trailing slash. */
  readonly publicUrl: string;
  /** Id of the owner whose apps and OAuth clients count for everybody; absent: there is none. */
  readonly sharedAppsOwner?: string;
}

export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** Every wait ends within 50 s: proxies give up after 60 s by default. */
export const defaultApiConfig: Omit<ApiConfig, "listen" | "publicUrl"> = {
  deployTimeoutMs: 45_000,
  deletionTimeoutMs: 30_000,
  runTimeoutMs: 45_000,
  recordTimeoutMs: 3_000,
  bodyBytes: 2 ** 20,
  codeBodyBytes: 4 * 2 ** 20,
  codeBytes: 2 ** 20,
  rateLimit: { requests: 6_000, windowMs: 60_000 },
  failureLimit: { requests: 60, windowMs: 60_000 },
  streamsPerUser: 1_000,
  liveSearches: { perUser: 10, total: 200 },
  storage: { resources: 20_000, bytes: 256 * 2 ** 20 },
  keptMeasures: defaultKeptMeasures,
  servesMetrics: true,
  trustedProxies: noProxies,
  maxConnections: 4_096,
};
