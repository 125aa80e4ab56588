import { createdAt, epochSeconds, publicIdOf } from "../resources/identity.ts";
import type { Answered } from "./answered.ts";
import { readText } from "./read.ts";
import type { AccountResource } from "../accounts/spec.ts";
import type { accountSchema } from "./schemas.ts";

/** An account without a word of its credentials. `changedAt`: epoch ms of a change that the operator has not seen yet. */
export function accountResponse(account: AccountResource, changedAt?: number): Answered<typeof accountSchema> {
  const { metadata, spec, status } = account;
  const created = createdAt(account);
  const updatedAt = changedAt ?? status.updatedAt;
  const ready = status.conditions?.find(({ type, observedGeneration }) => type === "Ready" && observedGeneration >= metadata.generation);
  const healthy = ready === undefined ? null : ready.status === "True";
  return {
    id: publicIdOf(account),
    app: readText(spec.app) ?? null,
    name: readText(spec.name) ?? metadata.name,
    healthy,
    problem: healthy === false ? (ready?.message ?? null) : null,
    created_at: created,
    updated_at: updatedAt === undefined ? created : Math.max(created, epochSeconds(updatedAt)),
  };
}
