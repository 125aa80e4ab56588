import { idPrefixes, type IdKind } from "../../domain/ids.ts";

/** By the segment in front of it: what a parameter of a path names. */
const kinds: Readonly<Record<string, readonly [IdKind, string]>> = {
  "sources/:id": ["source", "a source"],
  "runs/:run_id": ["run", "a run"],
  "workflows/:workflow_id": ["workflow", "a workflow"],
  "accounts/:id": ["account", "an account"],
  "webhooks/:id": ["webhook", "a webhook"],
  "keys/:id": ["apiKey", "an API key"],
  "members/:user_id": ["user", "a user"],
  "orgs/:org_id": ["organization", "an organization"],
  "users/:id": ["user", "a user"],
  "keys/:key_id": ["apiKey", "an API key"],
  "orgs/:id": ["organization", "an organization"],
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
  const [prefix, whose] = [idPrefixes[kind[0]], kind[1]];
  return { description: `Id of ${whose}, \`${prefix}_…\`.`, schema: { type: "string", pattern: `^${prefix}_[0-9a-z]{1,57}$` } };
}
