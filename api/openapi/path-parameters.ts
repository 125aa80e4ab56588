import { idPrefixes, kindNouns, type IdKind } from "../../domain/ids.ts";

/** By the segment in front of it: what a parameter of a path names. */
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
  "orgs/:org_id": "organization",
  "workspaces/:org_id": "organization",
  "users/:id": "user",
  "keys/:key_id": "apiKey",
  "orgs/:id": "organization",
};
const keys: Readonly<Record<string, string>> = {
  "components/:key": "Id of a component, `sc_…`, or its key.",
  "deliveries/:id": "Id of a delivery, as attempts and dead letters tell it.",
  "plans/:name": "Name of a plan.",
  "registry/:key": "Key of a component of the registry.",
};

/** The parameters of a path in the document. */
export function pathParameters(path: string): readonly object[] {
  return [...path.matchAll(/([^/]+)\/:([^/]+)/g)].map(([found, , name = ""]) => ({
    name,
    in: "path",
    required: true,
    ...described(found),
  }));
}

function described(place: string): object {
  const kind = kinds[place];
  if (kind === undefined) return { description: keys[place] ?? "An id.", schema: { type: "string" } };
  const prefix = idPrefixes[kind];
  const id = `Id of ${kindNouns[kind]}, \`${prefix}_…\``;
  // A path may also name a source by its slug, which no pattern of ids describes.
  if (kind === "source") return { description: `${id}, or its \`name_slug\`.`, schema: { type: "string" } };
  return { description: `${id}.`, schema: { type: "string", pattern: `^${prefix}_[0-9a-z]{1,57}$` } };
}
