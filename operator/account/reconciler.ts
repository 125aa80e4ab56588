import { hash } from "node:crypto";
import { accountKind, referencesOfAccount, type AccountResource } from "../../crds/account.ts";
import { NotFound } from "../../domain/errors.ts";
import { reconnectOccurrence } from "../../domain/mail/error-occurrence.ts";
import { readyConditions, updatedAtOf, writeStatus } from "../controller/status.ts";
import { findIdentified, labelWithApp, namespaceHasNoOwner } from "../identity.ts";
import { defaultExternalPollMs, ownerRetryMs, spread } from "../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { AccessTokens, type TokenRefresh, type RefreshProblem } from "./access-tokens.ts";
import type { ClientPorts } from "./client-of.ts";
import { isMissingToken, readCredentials, sizeProblem, type Missing, type SecretTexts } from "./credentials.ts";

const missingSecretRetryMs = 10_000;

export interface AccountReconcilerOptions extends Pick<OperatorConfig, "externalPollMs"> {
  /** Called with each account whose credentials changed since the previous pass. */
  readonly onChange?: (account: AccountResource) => void;
  /** Without caches; default: the other ports. */
  readonly live?: ClientPorts;
}

/** Gives an account its id, keeps its access token valid, and reports whether every credential can be read. */
export function accountReconciler(
  ports: OperatorPorts,
  { externalPollMs = defaultExternalPollMs, onChange = () => undefined, live = ports }: AccountReconcilerOptions = {},
) {
  const accessTokens = new AccessTokens(ports, live);
  const seen = new Map<string, string>();
  return async (key: string): Promise<number | undefined> => {
    const found = await findIdentified(ports, accountKind, key, "account");
    if (found === undefined) {
      accessTokens.forget(key);
      seen.delete(key);
      return undefined;
    }
    const { id } = found;
    const account = await labelWithApp(ports.store, accountKind, found.resource, found.resource.spec.app);
    if (!found.hasOwner) {
      await report(account, { id, verdict: namespaceHasNoOwner(account.metadata.namespace), tokens: account.status.oauth }, ports);
      return ownerRetryMs;
    }
    const refreshed = await accessTokens.refreshIfDue(key, account);
    const credentials = await readCredentials(withTokens(refreshed), ports);
    const missing = [...refreshed.missing, ...credentials.missing];
    await settle(refreshed, ports);
    const verdict = judge(refreshed, credentials, missing);
    await requestMail(refreshed.account, id, verdict, ports);
    await report(refreshed.account, { id, verdict, tokens: refreshed.tokens }, ports);
    const digest = hash("sha256", JSON.stringify(credentials.values));
    const before = seen.get(key);
    seen.set(key, digest);
    if (before !== undefined && before !== digest) onChange(refreshed.account);
    return requeueAfterMs(refreshed, missing, externalPollMs, ports);
  };
}

/** The account as it will be after this pass. */
const withTokens = ({ account, tokens }: TokenRefresh): AccountResource => ({
  ...account,
  status: { ...account.status, oauth: tokens },
});

/**
 * Only the operator settles an account's secrets: clients that write the spec do not know which tokens the status names. Settle before the
 * status reports the end of the refresh, so that a crash in between repeats it.
 */
async function settle({ account, tokens, refreshed }: TokenRefresh, { secretValues }: OperatorPorts): Promise<void> {
  const { namespace, name, uid, generation } = account.metadata;
  const dropped = account.status.oauth?.accessToken !== undefined && tokens?.accessToken === undefined;
  if (account.status.observedGeneration === generation && !refreshed && !dropped) return;
  const references = referencesOfAccount(account.spec, { ...account.status, oauth: tokens });
  await secretValues.settle({ kind: accountKind.kind, namespace, name, uid, generation }, references);
}

type Verdict = Parameters<typeof readyConditions>[0];

interface Report {
  readonly id: string;
  readonly verdict: Verdict;
  readonly tokens: TokenRefresh["tokens"];
}

/** Before the status reports it, so that a crash in between repeats the request, which has no effect then. */
async function requestMail({ metadata, spec, status }: AccountResource, id: string, verdict: Verdict, ports: OperatorPorts): Promise<void> {
  if (verdict.reason !== "NeedsReconnect" || status.needsReconnect === true) return;
  const owner = await ports.owners.ownerOf(metadata.namespace);
  if (owner === undefined) return;
  const occurrence = reconnectOccurrence({ id, owner, name: spec.name, at: ports.clock.now(), why: verdict.message });
  await ports.reconnectMails.request(occurrence, spec.connection?.connectedAt);
}

async function report(account: AccountResource, { id, verdict, tokens }: Report, { store, clock }: OperatorPorts): Promise<void> {
  const now = clock.now();
  await writeStatus(store, accountKind, account, {
    fields: {
      id,
      updatedAt: updatedAtOf(account, now),
      oauth: tokens === undefined || Object.keys(tokens).length === 0 ? undefined : tokens,
      needsReconnect: verdict.reason === "NeedsReconnect" ? true : undefined,
    },
    conditions: readyConditions(verdict),
    now,
  });
}

function judge(refreshed: TokenRefresh, credentials: SecretTexts, missing: readonly Missing[]): Verdict {
  if (missing.length > 0) return missingVerdict(missing);
  const tooLarge = sizeProblem(credentials);
  if (tooLarge !== undefined) return { ready: false, transient: false, reason: "CredentialsTooLarge", message: tooLarge };
  if (refreshed.problem !== undefined) return { ready: false, ...(refreshed.problem satisfies RefreshProblem) };
  if (isMissingToken(refreshed.account, credentials))
    return { ready: false, transient: true, reason: "TokenRefreshing", message: "its access token is being refreshed" };
  const fields = Object.keys(credentials.values).toSorted();
  const message = fields.length === 0 ? "it has no credentials" : `credentials found: ${fields.join(", ")}`;
  return { ready: true, reason: "Complete", message };
}

function missingVerdict(missing: readonly Missing[]): Verdict {
  const transient = missing.every(({ error }) => error instanceof NotFound);
  const message = missing.map(({ field, error }) => `credential ${field}: ${error.message}`).join("; ");
  return { ready: false, transient, reason: transient ? "SecretNotFound" : "SecretInvalid", message };
}

/** Secrets are not watched. Undefined if only a change of the account can change the result. */
function requeueAfterMs(
  { account, dueAt }: TokenRefresh,
  missing: readonly Missing[],
  externalPollMs: number,
  ports: OperatorPorts,
): number | undefined {
  const hasSecretRefs = referencesOfAccount(account.spec, account.status).some(({ secretKeyRef }) => secretKeyRef !== undefined);
  const waits = [
    ...(missing.length > 0 ? [spread(missingSecretRetryMs, ports)] : []),
    ...(hasSecretRefs ? [spread(externalPollMs, ports)] : []),
    ...(dueAt === undefined ? [] : [Math.max(10, dueAt - ports.clock.now())]),
  ];
  return waits.length === 0 ? undefined : Math.min(...waits);
}
