import { accountKind, type AccountTokens } from "../../crds/account.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { OperatorPorts, RefreshedTokens, RefreshOutcome } from "../ports.ts";
import { refreshDueAt, refusedRetryMs, retryAfterMs } from "./due.ts";
import type { AccountResource, Missing } from "./credentials.ts";
import { readGrant, tokensOf, type Grant } from "./grant.ts";

/** What a look at an account's access token came to. */
export interface Freshness {
  /** As it is stored now. */
  readonly account: AccountResource;
  /** What its status is to say in the end. */
  readonly tokens: AccountTokens | undefined;
  /** Tokens were kept that are to be made the account's own. */
  readonly refreshed: boolean;
  readonly missing: readonly Missing[];
  readonly problem?: RefreshProblem;
  /** When to look again, epoch ms. */
  readonly dueAt?: number;
}

export interface RefreshProblem {
  readonly reason: "TokenRefused" | "TokenEndpointUnavailable";
  readonly message: string;
  readonly passing: boolean;
}

interface Failure {
  readonly requestDigest: string;
  readonly count: number;
  readonly retryAt: number;
  readonly problem: RefreshProblem;
}

/** Tokens that the service has given and that are not in the status yet: its former refresh token may be void by now. */
interface Unsaved {
  readonly digest: string;
  readonly tokens: RefreshedTokens;
  readonly at: number;
  kept?: Readonly<Record<string, SecretReference>>;
}

/** Another operator that leads no more may still be at it for as long; it is longer than a request may take. */
const claimMs = 60_000;

/**
 * Refreshes access tokens ahead of their end. A refresh token may count once only, so nobody asks before the status says who does:
 * a write that two cannot both make. What the service gave is kept in memory until the status has it.
 */
export class AccessTokens {
  readonly #ports: OperatorPorts;
  readonly #failures = new Map<string, Failure>();
  readonly #unsaved = new Map<string, Unsaved>();
  /** Claims of our own, by account: nobody is waited for. */
  readonly #claims = new Set<string>();

  constructor(ports: OperatorPorts) {
    this.#ports = ports;
  }

  forget(key: string): void {
    this.#failures.delete(key);
    this.#unsaved.delete(key);
    this.#claims.delete(key);
  }

  /** @throws Conflict when somebody else changed the account meanwhile: look again */
  async keepFresh(key: string, account: AccountResource): Promise<Freshness> {
    const still = { account, refreshed: false, missing: [] } as const;
    if (account.spec.oauth === undefined) {
      this.forget(key);
      return { ...still, tokens: undefined };
    }
    const grant = await readGrant(account, this.#ports);
    if ("missing" in grant) return { ...still, tokens: account.status.oauth, missing: grant.missing };
    const tokens = await tokensOf(account, grant, this.#ports);
    if (this.#unsaved.get(key)?.digest === grant.digest) return this.#save(key, account);
    this.#unsaved.delete(key);
    const wait = this.#waits(key, account, grant, tokens);
    return wait === undefined ? this.#refresh(key, account, grant, tokens) : { ...still, tokens: released(tokens, wait), ...wait };
  }

  #waits(
    key: string,
    { spec }: AccountResource,
    { requestDigest }: Grant,
    tokens: AccountTokens,
  ): { readonly dueAt: number; readonly problem?: RefreshProblem; readonly claimed?: true } | undefined {
    const now = this.#ports.clock.now();
    const dueAt = refreshDueAt(spec, tokens);
    if (now < dueAt) return { dueAt };
    const claimEnds = Date.parse(tokens.refreshingSince ?? "") + claimMs;
    if (now < claimEnds && !this.#claims.has(key)) return { dueAt: claimEnds, claimed: true };
    const failure = this.#failures.get(key);
    if (failure?.requestDigest !== requestDigest || now >= failure.retryAt) return undefined;
    return { dueAt: failure.retryAt, problem: failure.problem };
  }

  async #refresh(key: string, account: AccountResource, grant: Grant, tokens: AccountTokens): Promise<Freshness> {
    const { clock, secrets, secretValues, tokenRefresher } = this.#ports;
    const { refreshToken } = tokens;
    const newest = refreshToken === undefined ? undefined : await secretValues.read(account.metadata.namespace, refreshToken);
    this.#claims.add(key);
    const claim = { ...tokens, grant: await secrets.seal(grant.digest), refreshingSince: new Date(clock.now()).toISOString() };
    const claimed = await this.#write(account, claim);
    const outcome = await tokenRefresher.refresh({ ...grant.given, ...(newest === undefined ? {} : { refreshToken: newest }) });
    if (outcome.outcome !== "refreshed") {
      const { retryAt, problem } = this.#failed(key, grant, outcome);
      this.#claims.delete(key);
      return { account: claimed, tokens: released(claim, {}), refreshed: false, missing: [], problem, dueAt: retryAt };
    }
    this.#failures.delete(key);
    this.#unsaved.set(key, { digest: grant.digest, tokens: outcome.tokens, at: clock.now() });
    return this.#save(key, claimed);
  }

  async #save(key: string, account: AccountResource): Promise<Freshness> {
    const unsaved = this.#unsaved.get(key);
    if (unsaved === undefined) return { account, tokens: account.status.oauth, refreshed: false, missing: [] };
    const { accessToken, refreshToken, expiresInSeconds } = unsaved.tokens;
    const { namespace, name } = account.metadata;
    unsaved.kept ??= await this.#ports.secretValues.keep(
      { kind: accountKind.kind, namespace, name },
      { accessToken, ...(refreshToken === undefined ? {} : { refreshToken }) },
    );
    const { expiresAt: _, ...before } = account.status.oauth ?? {};
    const tokens: AccountTokens = {
      ...before,
      ...unsaved.kept,
      refreshedAt: new Date(unsaved.at).toISOString(),
      ...(expiresInSeconds === undefined ? {} : { expiresAt: new Date(unsaved.at + expiresInSeconds * 1_000).toISOString() }),
    };
    const saved = await this.#write(account, tokens);
    this.#unsaved.delete(key);
    this.#claims.delete(key);
    return { account: saved, tokens: released(tokens, {}), refreshed: true, missing: [], dueAt: refreshDueAt(account.spec, tokens) };
  }

  #write(account: AccountResource, oauth: AccountTokens): Promise<AccountResource> {
    return this.#ports.store.updateStatus(accountKind, { ...account, status: { ...account.status, oauth } });
  }

  #failed(key: string, { given, requestDigest }: Grant, outcome: Exclude<RefreshOutcome, { outcome: "refreshed" }>): Failure {
    const before = this.#failures.get(key);
    const count = before?.requestDigest === requestDigest ? before.count + 1 : 1;
    const { clock, random } = this.#ports;
    const refused = outcome.outcome === "refused";
    const pause = refused ? refusedRetryMs : retryAfterMs(count, outcome.retryAfterMs, random());
    const failure = { requestDigest, count, retryAt: clock.now() + pause, problem: problemOf(given.tokenUrl, outcome) };
    this.#failures.set(key, failure);
    return failure;
  }
}

/** The claim ends with the look, unless it is somebody else's. */
function released({ refreshingSince, ...tokens }: AccountTokens, { claimed }: { readonly claimed?: true }): AccountTokens {
  return claimed === true && refreshingSince !== undefined ? { ...tokens, refreshingSince } : tokens;
}

function problemOf(tokenUrl: string, outcome: Exclude<RefreshOutcome, { outcome: "refreshed" }>): RefreshProblem {
  const { host } = new URL(tokenUrl); // What else an address holds may be secret.
  if (outcome.outcome === "refused")
    return {
      reason: "TokenRefused",
      passing: false,
      message: `the token endpoint at ${host} refuses to refresh the access token: ${outcome.why}. Connect the account again and give its new refresh token; otherwise it is asked again every hour`,
    };
  return {
    reason: "TokenEndpointUnavailable",
    passing: true,
    message: `the access token cannot be refreshed at ${host}: ${outcome.why}. It is tried again, with pauses of 5 seconds to 5 minutes`,
  };
}
