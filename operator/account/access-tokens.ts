import { holderOf } from "../../crds/secret-values.ts";
import { accountKind, type AccountTokens, type AccountResource } from "../../crds/account.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { OperatorPorts, RefreshedTokens, RefreshOutcome } from "../ports.ts";
import { refreshDueAt, refusedRetryMs, retryAfterMs } from "./due.ts";
import type { ClientPorts } from "./client-of.ts";
import type { Missing } from "./credentials.ts";
import { readDigest, readGrant, tokensOfGrant, type Grant } from "./grant.ts";

/** Result of checking, and if due refreshing, an account's access token. */
export interface TokenRefresh {
  /** The account as stored now. */
  readonly account: AccountResource;
  /** The tokens to write to the status. */
  readonly tokens: AccountTokens | undefined;
  /** New tokens were stored and must still be settled as the account's own. */
  readonly refreshed: boolean;
  readonly missing: readonly Missing[];
  readonly problem?: RefreshProblem;
  /** Next check, epoch ms. */
  readonly dueAt?: number;
}

export interface RefreshProblem {
  readonly reason: "NeedsReconnect" | "TokenRefused" | "TokenEndpointUnavailable";
  readonly message: string;
  readonly transient: boolean;
}

interface Failure {
  readonly requestDigest: string;
  readonly count: number;
  readonly retryAt: number;
  readonly problem: RefreshProblem;
}

/** Tokens that the service has issued and the status does not have yet. The previous refresh token may already be void. */
interface Unsaved {
  readonly digest: string;
  readonly tokens: RefreshedTokens;
  readonly at: number;
  kept?: Readonly<Record<string, SecretReference>>;
}

/** A former leader may still be refreshing for this long. Longer than the timeout of a token request. */
const claimMs = 60_000;

/**
 * Refreshes access tokens before they expire. A refresh token may be usable only once, so the status records the refresh first: only one
 * operator can win that write. Issued tokens stay in memory until they are in the status.
 */
export class AccessTokens {
  readonly #ports: OperatorPorts;
  readonly #live: ClientPorts;
  readonly #failures = new Map<string, Failure>();
  readonly #unsaved = new Map<string, Unsaved>();
  /** Accounts whose refresh this process has claimed: it does not wait for its own claim. */
  readonly #claims = new Set<string>();

  /** @param live without caches */
  constructor(ports: OperatorPorts, live: ClientPorts) {
    this.#ports = ports;
    this.#live = live;
  }

  forget(key: string): void {
    this.#failures.delete(key);
    this.#unsaved.delete(key);
    this.#claims.delete(key);
  }

  /** @throws Conflict when the account was changed concurrently: the next pass reads it again */
  async refreshIfDue(key: string, account: AccountResource): Promise<TokenRefresh> {
    const unchanged = { account, refreshed: false, missing: [] } as const;
    if (account.spec.oauth === undefined) {
      this.forget(key);
      return { ...unchanged, tokens: undefined, ...this.#withoutRefresh(account) };
    }
    // Issued tokens are saved even when the client was deleted since.
    const unsaved = this.#unsaved.get(key);
    if (unsaved !== undefined && unsaved.digest === (await readDigest(account, this.#ports))) return this.#save(key, account);
    const known = await readGrant(account, this.#ports);
    // A cache may be behind that of accounts, and a person would be asked to connect the account again.
    const grant = "changed" in known ? await readGrant(account, this.#live) : known;
    const blocked = { ...unchanged, tokens: account.status.oauth, dueAt: this.#ports.clock.now() + refusedRetryMs };
    if ("changed" in grant) return { ...blocked, problem: clientChanged(grant.changed) };
    if ("missing" in grant) return { ...blocked, missing: grant.missing };
    const tokens = await tokensOfGrant(account, grant, this.#ports);
    this.#unsaved.delete(key);
    const wait = this.#delay(key, account, grant, tokens);
    return wait === undefined ? this.#refresh(key, account, grant, tokens) : { ...unchanged, tokens: releaseClaim(tokens, wait), ...wait };
  }

  /** The service gave no refresh token. */
  #withoutRefresh({ spec: { connection } }: AccountResource): Pick<TokenRefresh, "dueAt" | "problem"> {
    const expiresAt = Date.parse(connection?.expiresAt ?? "");
    if (Number.isNaN(expiresAt)) return {};
    return this.#ports.clock.now() < expiresAt ? { dueAt: expiresAt } : { problem: expired(expiresAt) };
  }

  #delay(
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

  async #refresh(key: string, account: AccountResource, grant: Grant, tokens: AccountTokens): Promise<TokenRefresh> {
    const { clock, secrets, secretValues, tokenRefresher } = this.#ports;
    const { refreshToken } = tokens;
    const newest = refreshToken === undefined ? undefined : await secretValues.read(holderOf(accountKind, account), refreshToken);
    const claim = { ...tokens, grant: await secrets.seal(grant.digest), refreshingSince: new Date(clock.now()).toISOString() };
    const claimed = await this.#write(account, claim);
    this.#claims.add(key); // Not before: if another operator has won, the claim in the status is its own.
    const outcome = await tokenRefresher.refresh({ ...grant.request, ...(newest === undefined ? {} : { refreshToken: newest }) });
    if (outcome.outcome !== "refreshed") {
      const { retryAt, problem } = this.#recordFailure(key, grant, outcome);
      this.#claims.delete(key);
      return { account: claimed, tokens: releaseClaim(claim, {}), refreshed: false, missing: [], problem, dueAt: retryAt };
    }
    this.#failures.delete(key);
    this.#unsaved.set(key, { digest: grant.digest, tokens: outcome.tokens, at: clock.now() });
    return this.#save(key, claimed);
  }

  async #save(key: string, account: AccountResource): Promise<TokenRefresh> {
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
    return { account: saved, tokens: releaseClaim(tokens, {}), refreshed: true, missing: [], dueAt: refreshDueAt(account.spec, tokens) };
  }

  #write(account: AccountResource, oauth: AccountTokens): Promise<AccountResource> {
    return this.#ports.store.updateStatus(accountKind, { ...account, status: { ...account.status, oauth } });
  }

  #recordFailure(key: string, { request, requestDigest }: Grant, outcome: Exclude<RefreshOutcome, { outcome: "refreshed" }>): Failure {
    const before = this.#failures.get(key);
    const count = before?.requestDigest === requestDigest ? before.count + 1 : 1;
    const { clock, random } = this.#ports;
    const refused = outcome.outcome === "refused";
    const pause = refused ? refusedRetryMs : retryAfterMs(count, outcome.retryAfterMs, random());
    const failure = { requestDigest, count, retryAt: clock.now() + pause, problem: problemOf(request, outcome) };
    this.#failures.set(key, failure);
    return failure;
  }
}

/** Ends this process' claim on the refresh and keeps another operator's. */
function releaseClaim({ refreshingSince, ...tokens }: AccountTokens, { claimed }: { readonly claimed?: true }): AccountTokens {
  return claimed === true && refreshingSince !== undefined ? { ...tokens, refreshingSince } : tokens;
}

const clientChanged = (why: string): RefreshProblem => ({
  reason: "NeedsReconnect",
  transient: false,
  message: `the access token cannot be refreshed: ${why}. Connect the account again`,
});

const expired = (expiresAt: number): RefreshProblem => ({
  reason: "NeedsReconnect",
  transient: false,
  message: `the access token has expired at ${new Date(expiresAt).toISOString()}, and the service gave no refresh token. Connect the account again`,
});

function problemOf(
  { tokenUrl, refreshToken }: Grant["request"],
  outcome: Exclude<RefreshOutcome, { outcome: "refreshed" }>,
): RefreshProblem {
  const isOfClient = refreshToken === undefined;
  const { host } = new URL(tokenUrl); // The rest of the URL may be secret.
  if (outcome.outcome === "refused")
    return {
      reason: outcome.isGrantVoid === true ? "NeedsReconnect" : "TokenRefused",
      transient: false,
      message: isOfClient
        ? `the token endpoint at ${host} refused to issue an access token: ${outcome.why}. Give the client's id and secret again: hw accounts reconnect. The request is retried every hour`
        : `the token endpoint at ${host} refused to refresh the access token: ${outcome.why}. Connect the account again with a new refresh token. The refresh is retried every hour`,
    };
  return {
    reason: "TokenEndpointUnavailable",
    transient: true,
    message: `the access token cannot be ${isOfClient ? "requested" : "refreshed"} at ${host}: ${outcome.why}. It is retried after 5 seconds to 5 minutes`,
  };
}
