import { oauthClientKind, type OAuthClientResource } from "../../crds/oauth-client.ts";
import { holderOf } from "../../crds/secret-values.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { readyConditions, updatedAtOf, writeStatus, type Verdict } from "../controller/status.ts";
import { findIdentified, labelWithApp, namespaceHasNoOwner } from "../identity.ts";
import { defaultExternalPollMs, ownerRetryMs, spread } from "../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";

const missingSecretRetryMs = 10_000;

/** Gives a client its id, owns its stored secret, and reports whether the secret can be read. */
export function oauthClientReconciler(
  ports: OperatorPorts,
  { externalPollMs = defaultExternalPollMs }: Pick<OperatorConfig, "externalPollMs"> = {},
) {
  return async (key: string): Promise<number | undefined> => {
    const found = await findIdentified(ports, oauthClientKind, key, "oauthClient");
    if (found === undefined) return undefined;
    const client = await labelWithApp(ports.store, oauthClientKind, found.resource, found.resource.spec.app);
    await settle(client, ports);
    const verdict = found.hasOwner ? await judge(client, ports) : namespaceHasNoOwner(client.metadata.namespace);
    await report(client, found.id, verdict, ports);
    if (!found.hasOwner) return ownerRetryMs;
    if (!verdict.ready) return spread(missingSecretRetryMs, ports);
    return client.spec.clientSecret?.secretKeyRef === undefined ? undefined : spread(externalPollMs, ports);
  };
}

async function settle({ metadata, spec, status }: OAuthClientResource, { secretValues }: OperatorPorts): Promise<void> {
  const { namespace, name, uid, generation } = metadata;
  if (status.observedGeneration === generation) return;
  const references = spec.clientSecret === undefined ? [] : [spec.clientSecret];
  await secretValues.settle({ kind: oauthClientKind.kind, namespace, name, uid, generation }, references);
}

async function judge(client: OAuthClientResource, { secretValues }: OperatorPorts): Promise<Verdict> {
  const { app, clientSecret } = client.spec;
  try {
    if (clientSecret !== undefined) await secretValues.read(holderOf(oauthClientKind, client), clientSecret);
    return { ready: true, reason: "Registered", message: `accounts of ${app} are connected by it` };
  } catch (error) {
    if (error instanceof NotFound) return { ready: false, transient: true, reason: "SecretNotFound", message: error.message };
    if (error instanceof InvalidInput) return { ready: false, transient: false, reason: "SecretInvalid", message: error.message };
    throw error;
  }
}

async function report(client: OAuthClientResource, id: string, verdict: Verdict, { store, clock }: OperatorPorts): Promise<void> {
  const now = clock.now();
  await writeStatus(store, oauthClientKind, client, {
    fields: { id, updatedAt: updatedAtOf(client, now) },
    conditions: readyConditions(verdict),
    now,
  });
}
