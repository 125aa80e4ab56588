import { z } from "zod";
import { idPrefixes, kindNouns, type IdKind } from "../../domain/ids.ts";

/** Path parameters that are ids, by the path segment before them. A new kind of id in a path needs a row here. */
const kinds: Readonly<Record<string, IdKind>> = {
  "sources/:id": "source",
  "dc/:id": "source",
  "subscriptions/:id": "subscription",
  "runs/:run_id": "run",
  "workflows/:workflow_id": "workflow",
  "accounts/:id": "account",
  "webhooks/:id": "webhook",
  "keys/:id": "apiKey",
  "members/:user_id": "user",
  "invitations/:id": "invitation",
  "invitations/:invitation_id": "invitation",
  "orgs/:org_id": "organization",
  "workspaces/:org_id": "organization",
  "users/:id": "user",
  "keys/:key_id": "apiKey",
  "orgs/:id": "organization",
  "components/:id": "component",
};
const others: Readonly<Record<string, string>> = {
  "components/:key": "Id of a component, `sc_…`, or its key.",
  "traces/:id":
    "A run, `r_…`; an event, `<source or workflow>.<event id>`, or the `webhook-id` under which it was delivered; or the id of a delivery.",
  "deliveries/:id": "Id of a delivery, as in attempts and dead letters.",
  "plans/:name": "Name of a plan.",
  "steps/:step": "Name of a step, or its id, `c_…`.",
  "variables/:name": "Name of a variable.",
  "packages/:name": "Name of a package of the npm registry; a `/` in it is `%2F`.",
  "registry/:key": "Key of a component of the registry.",
  "registry/:published_version": "Key and version, as `acme-feed@1.0.0`.",
};

/** Documents the parameters of a path. Requests are not parsed by these schemas, because invalid ids are not found (404). */
export function pathParameters(path: string): z.ZodObject {
  const found = [...path.matchAll(/([^/]+)\/:([^/]+)/g)];
  return z.object(Object.fromEntries(found.map(([segments, , name = ""]) => [name, parameterOf(segments)])));
}

function parameterOf(segments: string): z.ZodString {
  const kind = kinds[segments];
  if (kind === undefined) return z.string().describe(others[segments] ?? "An id.");
  const prefix = idPrefixes[kind];
  const id = `Id of ${kindNouns[kind]}, \`${prefix}_…\``;
  // A path may also name a source by its slug, which no pattern of ids describes.
  if (kind === "source") return z.string().describe(`${id}, or its \`name_slug\`.`);
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-z]{1,57}$`))
    .describe(`${id}.`);
}
