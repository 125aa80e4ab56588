import type { AccountConnection } from "../../crds/account.ts";
import { derivedId } from "../resources/derived-id.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { Answered } from "../http/response/answered.ts";
import { readText } from "../resources/stored-fields.ts";
import type { AccountResource } from "./spec.ts";
import type { accountSchema } from "./schemas.ts";

/**
 * An account without its credentials, in the form that clients of the known service read: the app as an object, times as ISO 8601.
 * @param changedAt epoch ms of a change that the operator has not seen yet
 */
export function accountResponse(account: AccountResource, changedAt?: number): Answered<typeof accountSchema> {
  const { metadata, spec, status } = account;
  const created = Date.parse(metadata.creationTimestamp);
  const updated = Math.max(created, changedAt ?? status.updatedAt ?? created);
  const ready = status.conditions?.find(({ type, observedGeneration }) => type === "Ready" && observedGeneration >= metadata.generation);
  const healthy = ready === undefined ? null : ready.status === "True";
  const app = readText(spec.app);
  return {
    id: publicIdOf(account),
    app: app === undefined ? null : appResponse(app),
    name: readText(spec.name) ?? metadata.name,
    healthy,
    problem: healthy === false ? (ready?.message ?? null) : null,
    needs_reconnect: status.needsReconnect === true && healthy === false,
    grant_type: spec.oauth === undefined ? null : (spec.oauth.grant ?? "refresh_token"),
    connection: connectionResponse(spec.connection),
    refreshed_at: status.oauth?.refreshedAt ?? null,
    created_at: new Date(created).toISOString(),
    updated_at: new Date(updated).toISOString(),
  };
}

const connectionResponse = (connection: AccountConnection | undefined): Answered<typeof accountSchema>["connection"] =>
  connection === undefined
    ? null
    : {
        oauth_client_id: connection.client,
        name: connection.name ?? null,
        picture: connection.picture ?? null,
        scopes: [...(connection.scopes ?? [])],
        connected_at: connection.connectedAt,
      };

/** Only the slug of an app is known: its id and its name are derived from it. */
function appResponse(slug: string) {
  const words = slug.split(/[_-]+/).filter((word) => word !== "");
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
  return { id: derivedId("app", slug), name_slug: slug, name };
}
