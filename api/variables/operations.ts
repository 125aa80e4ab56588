import { variableKind, type VariableResource } from "../../crds/variable.ts";
import { Forbidden } from "../../domain/errors.ts";
import { operation, type ApiContext } from "../context.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { all, nothing, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { verdictOf } from "../resources/watch/verdict.ts";
import { variableFields, variableSchema } from "./schemas.ts";
import { deleteVariable, getVariable, parseName, putVariable, readableVariables, variableResponse, variablesIn } from "./variable.ts";

/** Variables of a user or an organization. Responses never contain secret values. */
export const variableOperations = [
  operation({
    route: "GET /variables",
    id: "listVariables",
    summary: "List the variables that steps can read",
    description: "Those of the owner and of the installation, by name; of two with one name the owner's.",
    query: ownerParameters,
    responses: all(variableSchema),
    handle: async (call, context) => {
      const variables = await readableVariables(await context.access.owner(call), context);
      return ok(variables.map((variable) => variableResponse(variable)));
    },
  }),
  operation({
    route: "PUT /variables/:name",
    id: "setVariable",
    change: { action: "update", kind: "Variable" },
    summary: "Set a variable",
    description: "The next run of each workflow reads it, without a deployment.",
    query: ownerParameters,
    body: variableFields,
    responses: one(variableSchema),
    errors: [409, 429],
    handle: async (call, context) => {
      const name = parseName(pathOf(call, "name"));
      const fields = call.body();
      const owner = await context.access.owner(call);
      await checkNotShared(name, owner, context);
      const written = await putVariable(name, fields, { owner, isShared: false }, context.ports);
      const seen = await untilSeen(written, context);
      return ok(variableResponse(seen, context.ports.clock.now()));
    },
  }),
  operation({
    route: "DELETE /variables/:name",
    id: "deleteVariable",
    change: { action: "delete", kind: "Variable" },
    summary: "Delete a variable",
    description: "Steps that read it fail, unless their expressions have a default.",
    query: ownerParameters,
    responses: nothing,
    handle: async (call, context) => {
      const name = parseName(pathOf(call, "name"));
      const owner = await context.access.owner(call);
      await checkNotShared(name, owner, context);
      await deleteAndWait(getVariable(name, await ownOf(owner, context)), context);
      return noContent;
    },
  }),
];

const ownOf = async (owner: string, { ports }: ApiContext): Promise<ReadonlyMap<string, VariableResource>> =>
  variablesIn(await ports.owners.find(owner), false, ports);

/** Members of the shared organization set its own variables here: those of all owners are the administrator's. @throws Forbidden */
async function checkNotShared(name: string, owner: string, context: ApiContext): Promise<void> {
  const namespace = await context.ports.owners.find(owner);
  if (namespace === undefined || namespace !== (await context.apps.sharedNamespace())) return;
  const isShared = (await variablesIn(namespace, true, context.ports)).has(name);
  if (isShared && !(await ownOf(owner, context)).has(name))
    throw new Forbidden(`${name} is a variable of the installation: an administrator changes it with PUT /admin/v1/variables/${name}`);
}

/** Until runs read it, or the operator has refused it. Later the response says `healthy: null`. */
async function untilSeen(written: VariableResource, { config, ports, variables }: ApiContext): Promise<VariableResource> {
  const { namespace, name, generation } = written.metadata;
  const following = variables.follow(namespace, name);
  try {
    // The operator may have been faster than the following, which began after the write.
    const now = await ports.store.find(variableKind, namespace, name);
    if (verdictOf(now, generation) !== undefined) return now ?? written;
    const seen = await following.until((state) => verdictOf(state, generation), AbortSignal.timeout(config.deployTimeoutMs));
    return seen?.resource ?? written;
  } finally {
    following.end();
  }
}

async function deleteAndWait(variable: VariableResource, { config, ports, variables }: ApiContext): Promise<void> {
  const { namespace, name } = variable.metadata;
  const following = variables.follow(namespace, name);
  try {
    await deleteVariable(variable, ports);
    await following.until((seen) => (seen === undefined ? true : undefined), AbortSignal.timeout(config.deletionTimeoutMs));
  } finally {
    following.end();
  }
}
