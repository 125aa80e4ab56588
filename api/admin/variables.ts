import { Conflict } from "../../domain/errors.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { all, nothing, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { variableFields, variableSchema } from "../variables/schemas.ts";
import { deleteVariable, getVariable, inOrder, parseName, putVariable, variableResponse, variablesIn } from "../variables/variable.ts";
import { adminOperation, type AdminContext } from "./context.ts";

/** Variables of the installation, which count for all owners. */
export const adminVariableOperations = [
  adminOperation({
    route: "GET /variables",
    id: "listVariables",
    summary: "List the variables of the installation",
    responses: all(variableSchema),
    handle: async (_call, context) => ok(inOrder(await sharedVariables(context)).map((variable) => variableResponse(variable))),
  }),
  adminOperation({
    route: "PUT /variables/:name",
    id: "setVariable",
    change: { action: "update", kind: "Variable" },
    summary: "Set a variable of the installation",
    description: "Steps of all owners can read it. One of the same name of an owner counts before it.",
    body: variableFields,
    responses: one(variableSchema),
    errors: [409, 429],
    handle: async (call, context) => {
      const name = parseName(pathOf(call, "name"));
      const fields = call.body();
      const written = await putVariable(name, fields, { owner: sharedOwner(context), isShared: true }, context.ports);
      return ok(variableResponse(written, context.ports.clock.now()));
    },
  }),
  adminOperation({
    route: "DELETE /variables/:name",
    id: "deleteVariable",
    change: { action: "delete", kind: "Variable" },
    summary: "Delete a variable of the installation",
    responses: nothing,
    handle: async (call, context) => {
      const name = parseName(pathOf(call, "name"));
      await deleteVariable(getVariable(name, await sharedVariables(context)), context.ports);
      return noContent;
    },
  }),
];

/** None if no organization has them. */
const sharedVariables = async ({ config: { sharedAppsOwner: owner }, ports }: AdminContext) =>
  variablesIn(owner === undefined ? undefined : await ports.owners.find(owner), true, ports);

/** @throws Conflict */
function sharedOwner({ config }: AdminContext): string {
  if (config.sharedAppsOwner !== undefined) return config.sharedAppsOwner;
  throw new Conflict("no organization has the variables of the installation: set HEADWATER_SHARED_APPS_OWNER to the id of one");
}
