import { createHash } from "node:crypto";
import { accountKind, appLabelOf, referencesOfAccount } from "../../crds/account.ts";
import { labels } from "../../crds/resource.ts";
import { NotFound } from "../../domain/errors.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { findIdentified, lookForOwnerMs, namespaceHasNoOwner } from "../identity.ts";
import { defaultChangesElsewhereMs, type OperatorConfig, type OperatorPorts } from "../ports.ts";
import { spread } from "../spread.ts";
import { AccessTokens, type Freshness, type RefreshProblem } from "./access-tokens.ts";
import { lacksToken, readCredentials, tooLarge, type AccountResource, type Missing, type Read } from "./credentials.ts";

const missingMs = 10_000;

export interface AccountReconciling extends Pick<OperatorConfig, "changesElsewhereMs"> {
  /** Told of each account whose credentials are others than when they were last looked at. */
  readonly onChange?: (account: AccountResource) => void;
}

/** Gives an account its id, keeps its access token fresh, and says whether all of its credentials are where it says. */
export function accountReconciler(
  ports: OperatorPorts,
  { changesElsewhereMs = defaultChangesElsewhereMs, onChange = () => undefined }: AccountReconciling = {},
) {
  const accessTokens = new AccessTokens(ports);
  const seen = new Map<string, string>();
  return async (key: string): Promise<number | undefined> => {
    const found = await findIdentified(ports, accountKind, key, "account");
    if (found === undefined) {
      accessTokens.forget(key);
      seen.delete(key);
      return undefined;
    }
    const { id } = found;
    const account = await labelWithApp(found.resource, ports);
    if (!found.hasOwner) {
      await say(account, { id, verdict: namespaceHasNoOwner(account.metadata.namespace), tokens: account.status.oauth }, ports);
      return lookForOwnerMs;
    }
    const fresh = await accessTokens.keepFresh(key, account);
    const credentials = await readCredentials(withTokens(fresh), ports);
    const missing = [...fresh.missing, ...credentials.missing];
    await settle(fresh, ports);
    await say(fresh.account, { id, verdict: judge(fresh, credentials, missing), tokens: fresh.tokens }, ports);
    const digest = createHash("sha256").update(JSON.stringify(credentials.values)).digest("hex");
    const before = seen.get(key);
    seen.set(key, digest);
    if (before !== undefined && before !== digest) onChange(fresh.account);
    return lookAgainMs(fresh, missing, changesElsewhereMs, ports);
  };
}

/** As it is to be in the end. */
const withTokens = ({ account, tokens }: Freshness): AccountResource => ({ ...account, status: { ...account.status, oauth: tokens } });

/** Lists are asked for the accounts of an app. */
async function labelWithApp(account: AccountResource, { store }: OperatorPorts): Promise<AccountResource> {
  const { metadata, spec } = account;
  const app = appLabelOf(spec.app);
  if (metadata.labels[labels.app] === app) return account;
  return store.update(accountKind, { ...account, metadata: { ...metadata, labels: { ...metadata.labels, [labels.app]: app } } });
}

/**
 * Here alone: whoever writes the spec does not know which tokens the status names by now. Tokens are made the account's own before
 * the status says that the refresh is over, so that whoever is killed in between does it again.
 */
async function settle({ account, tokens, refreshed }: Freshness, { secretValues }: OperatorPorts): Promise<void> {
  const { namespace, name, uid, generation } = account.metadata;
  const dropped = account.status.oauth?.accessToken !== undefined && tokens?.accessToken === undefined;
  if (account.status.observedGeneration === generation && !refreshed && !dropped) return;
  const references = referencesOfAccount(account.spec, { ...account.status, oauth: tokens });
  await secretValues.settle({ kind: accountKind.kind, namespace, name, uid, generation }, references);
}

type Verdict = Parameters<typeof readyConditions>[0];

interface Said {
  readonly id: string;
  readonly verdict: Verdict;
  readonly tokens: Freshness["tokens"];
}

async function say(account: AccountResource, { id, verdict, tokens }: Said, { store, clock }: OperatorPorts): Promise<void> {
  const { generation, creationTimestamp } = account.metadata;
  const now = clock.now();
  const changedAt = generation === 1 ? Date.parse(creationTimestamp) : now;
  const updatedAt = account.status.observedGeneration === generation ? account.status.updatedAt : changedAt;
  await writeStatus(store, accountKind, account, {
    fields: { id, updatedAt: updatedAt ?? changedAt, oauth: tokens === undefined || Object.keys(tokens).length === 0 ? undefined : tokens },
    conditions: readyConditions(verdict),
    now,
  });
}

function judge(fresh: Freshness, credentials: Read, missing: readonly Missing[]): Verdict {
  if (missing.length > 0) return missingVerdict(missing);
  const large = tooLarge(credentials);
  if (large !== undefined) return { ready: false, passing: false, reason: "CredentialsTooLarge", message: large };
  if (fresh.problem !== undefined) return { ready: false, ...(fresh.problem satisfies RefreshProblem) };
  if (lacksToken(fresh.account, credentials))
    return { ready: false, passing: true, reason: "TokenRefreshing", message: "its access token is being refreshed" };
  const fields = Object.keys(credentials.values).toSorted();
  const message = fields.length === 0 ? "it has no credentials" : `credentials are there: ${fields.join(", ")}`;
  return { ready: true, reason: "Complete", message };
}

function missingVerdict(missing: readonly Missing[]): Verdict {
  const passing = missing.every(({ error }) => error instanceof NotFound);
  const message = missing.map(({ field, error }) => `credential ${field}: ${error.message}`).join("; ");
  return { ready: false, passing, reason: passing ? "SecretNotFound" : "SecretInvalid", message };
}

/** Nobody tells us of Secrets. Undefined where nothing can change but by a change of the account. */
function lookAgainMs(
  { account, dueAt }: Freshness,
  missing: readonly Missing[],
  changesElsewhereMs: number,
  ports: OperatorPorts,
): number | undefined {
  const isLive = referencesOfAccount(account.spec, account.status).some(({ secretKeyRef }) => secretKeyRef !== undefined);
  const waits = [
    ...(missing.length > 0 ? [spread(missingMs, ports)] : []),
    ...(isLive ? [spread(changesElsewhereMs, ports)] : []),
    ...(dueAt === undefined ? [] : [Math.max(10, dueAt - ports.clock.now())]),
  ];
  return waits.length === 0 ? undefined : Math.min(...waits);
}
