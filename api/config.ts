import { noProxies, type TrustedProxies } from "../domain/client-address.ts";

export interface ApiConfig {
  readonly listen: { readonly host: string; /** 0: any free port. */ readonly port: number };
  /** How long a request waits for its source, subscription or component to be ready. */
  readonly deployTimeoutMs: number;
  /** How long DELETE waits until a resource is gone; the deletion goes on after that. */
  readonly deletionTimeoutMs: number;
  /** How long a manual run is waited for before its id is answered instead. */
  readonly runTimeoutMs: number;
  /** How long the answer to a run waits until the history shows that run. */
  readonly recordTimeoutMs: number;
  /** Bytes of a request body. */
  readonly bodyBytes: number;
  /** Of one that may hold the code of a component: 1 MiB, with room for how JSON writes it. */
  readonly codeBodyBytes: number;
  /** Bytes of a component's code as UTF-8. */
  readonly codeBytes: number;
  /** Per API key: so many at once, refilled evenly over the window. */
  readonly rateLimit: RateLimit;
  /** Failed authentications, per address. */
  readonly failureLimit: RateLimit;
  /** Live streams that one API key may have open at a time, in each process. */
  readonly streamsPerKey: number;
  /** Of the admin API; absent: there is no admin API. */
  readonly adminToken?: string;
  /** Are `/metrics` answered beside the API? Not when whoever reads them has an address of their own: this one may be public. */
  readonly servesMetrics: boolean;
  readonly trustedProxies: TrustedProxies;
  readonly maxConnections: number;
}

export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

export const defaultApiConfig: Omit<ApiConfig, "listen"> = {
  deployTimeoutMs: 60_000,
  deletionTimeoutMs: 30_000,
  runTimeoutMs: 60_000,
  recordTimeoutMs: 3_000,
  bodyBytes: 2 ** 20,
  codeBodyBytes: 4 * 2 ** 20,
  codeBytes: 2 ** 20,
  rateLimit: { requests: 6_000, windowMs: 60_000 },
  failureLimit: { requests: 60, windowMs: 60_000 },
  streamsPerKey: 1_000,
  servesMetrics: true,
  trustedProxies: noProxies,
  maxConnections: 4_096,
};
