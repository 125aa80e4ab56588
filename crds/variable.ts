import { z } from "zod";
import { systemVariables, variableLimits, variableName } from "../domain/variable/variable.ts";
import { isOlder } from "./older.ts";
import { baseStatus, columnsOf, defineKind, type Resource } from "./resource.ts";
import { exactlyOneOf, matching, withRules, type Rule } from "./rules.ts";
import { secretReference } from "./secret-reference.ts";

const isNoSystemVariable: Rule<{ readonly name: string }> = {
  cel: `!(self.name in [${systemVariables.map((name) => `'${name}'`).join(", ")}])`,
  holds: ({ name }) => !systemVariables.includes(name),
  message: `Headwater sets ${systemVariables.join(" and ")} itself: choose another name`,
  field: "name",
};

const spec = withRules(
  z.object({
    name: matching(variableName.pattern, variableName.maxLength, variableName.message).describe(
      "Name by which steps read it: `{{ env.NAME }}`, and in inline code `process.env.NAME`.",
    ),
    value: z.string().max(variableLimits.valueBytes).optional().describe("The value, if it is no secret."),
    valueFrom: secretReference.optional().describe("Reference to a secret value: exactly one of `secretKeyRef` and `sealed`."),
    shared: z
      .boolean()
      .optional()
      .describe("If true, it counts for all owners. Only in the namespace of the organization that `HEADWATER_SHARED_APPS_OWNER` names."),
  }),
  exactlyOneOf(["value", "valueFrom"], "they give the value"),
  isNoSystemVariable,
);
export type VariableSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  updatedAt: z.int().optional().describe("When the operator saw the last change of the spec, epoch milliseconds."),
  bytes: z.int().optional().describe("Bytes of the value, UTF-8."),
});
export type VariableStatus = z.infer<typeof status>;
export type VariableResource = Resource<VariableSpec, VariableStatus>;

export const variableKind = defineKind<VariableSpec, VariableStatus>({
  kind: "Variable",
  plural: "variables",
  shortNames: ["hwvar"],
  description: "A named value, which the steps of the owner's workflows can read.",
  columns: columnsOf(
    { name: "Name", type: "string", path: ".spec.name", description: "Name by which steps read it." },
    { name: "Shared", type: "boolean", path: ".spec.shared", description: "Whether it counts for all owners.", wide: true },
  ),
  selectable: [".spec.name", ".status.id"],
  immutable: [
    { field: "name", message: "the name of a variable cannot be changed, because steps read it by its name: create another Variable" },
    { field: "shared", message: "whom a variable counts for cannot be changed: create another Variable" },
  ],
  spec,
  status,
});

/** Present, valid variables by name: of several with one name the oldest. */
export function variablesByName(all: Iterable<VariableResource>, isShared: boolean): ReadonlyMap<string, VariableResource> {
  const found = new Map<string, VariableResource>();
  for (const variable of all) {
    const { invalid, metadata, spec } = variable;
    if (invalid !== undefined || metadata.deletionTimestamp !== undefined || (spec.shared === true) !== isShared) continue;
    const before = found.get(spec.name);
    if (before === undefined || isOlder(variable, before)) found.set(spec.name, variable);
  }
  return found;
}
