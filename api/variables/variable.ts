import { z } from "zod";
import { labels } from "../../crds/resource.ts";
import { allOf } from "../../crds/resource-store.ts";
import { variableKind, variablesByName, type VariableResource, type VariableSpec } from "../../crds/variable.ts";
import { Conflict, InvalidInput, NotFound, QuotaExceeded } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import { bytesOfVariable, systemVariables, variableLimits } from "../../domain/variable/variable.ts";
import type { ApiContext } from "../context.ts";
import type { Answered } from "../http/response/answered.ts";
import { parse } from "../http/request/parse.ts";
import type { ApiPorts } from "../ports.ts";
import { changeResource, unlessDeleted } from "../resources/change.ts";
import { derivedId } from "../resources/derived-id.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import { variableNameText, type variableFields, type variableSchema } from "./schemas.ts";

type Fields = z.output<typeof variableFields>;

/** Whose variables: those of an owner, or those of the installation, which the shared owner has. */
export interface Holder {
  readonly owner: string;
  readonly isShared: boolean;
}

/** @throws InvalidInput */
export function parseName(given: string): string {
  const { name } = parse(z.object({ name: variableNameText }), { name: given });
  if (systemVariables.includes(name)) throw new InvalidInput(`Headwater sets ${name} itself: choose another name`);
  return name;
}

/** Own or shared variables of a namespace by name; undefined: it has none yet. */
export async function variablesIn(
  namespace: string | undefined,
  isShared: boolean,
  { store }: Pick<ApiPorts, "store">,
): Promise<ReadonlyMap<string, VariableResource>> {
  if (namespace === undefined) return new Map();
  const all: VariableResource[] = [];
  for await (const variable of allOf(store, variableKind, { namespace })) all.push(variable);
  return variablesByName(all, isShared);
}

/** All variables that steps of the owner's workflows can read, by name. */
export async function readableVariables(
  owner: string,
  { ports, apps }: Pick<ApiContext, "ports" | "apps">,
): Promise<readonly VariableResource[]> {
  const shared = await variablesIn(await apps.sharedNamespace(), true, ports);
  const own = await variablesIn(await ports.owners.find(owner), false, ports);
  return inOrder(new Map([...shared, ...own]));
}

/** By name. */
export const inOrder = (variables: ReadonlyMap<string, VariableResource>): readonly VariableResource[] =>
  [...variables.values()].toSorted((a, b) => (a.spec.name < b.spec.name ? -1 : 1));

/**
 * Creates the variable, or changes its value. The resource's name follows from that of the variable, so that concurrent requests create one.
 * @throws QuotaExceeded, InvalidInput
 */
export async function putVariable(name: string, fields: Fields, holder: Holder, ports: ApiPorts): Promise<VariableResource> {
  const namespace = await ports.owners.ensure(holder.owner);
  const known = await variablesIn(namespace, holder.isShared, ports);
  const before = known.get(name);
  checkBounds(name, fields.value, known);
  if (before !== undefined) return changeVariable(before, fields, ports);
  try {
    return await createVariable(name, fields, { ...holder, namespace }, ports);
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const other = (await variablesIn(namespace, holder.isShared, ports)).get(name);
    if (other === undefined) throw error;
    return changeVariable(other, fields, ports);
  }
}

async function createVariable(
  name: string,
  { value, secret = false }: Fields,
  { owner, isShared, namespace }: Holder & { readonly namespace: string },
  ports: ApiPorts,
): Promise<VariableResource> {
  const id = derivedId("variable", `${namespace} ${isShared ? "shared" : "own"} ${name}`);
  const resource = { kind: variableKind.kind, namespace, name: resourceNameOf(id) };
  const created = await ports.store.create(variableKind, {
    name: resource.name,
    namespace,
    labels: { [labels.id]: id, [labels.owner]: owner },
    spec: { name, ...(await valueOf(value, secret, keepOnce(resource, ports))), ...(isShared ? { shared: true } : {}) },
  });
  await confirmOwned(variableKind, created, owner, ports);
  return created;
}

function changeVariable(variable: VariableResource, { value, secret }: Fields, ports: ApiPorts): Promise<VariableResource> {
  const { namespace, name } = variable.metadata;
  const keep = keepOnce({ kind: variableKind.kind, namespace, name }, ports);
  return changeResource(variableKind, ports.store, variable, async ({ spec }) => ({
    name: spec.name,
    ...(spec.shared === undefined ? {} : { shared: spec.shared }),
    ...(await valueOf(value, secret ?? spec.valueFrom !== undefined, keep)),
  }));
}

async function valueOf(
  value: string,
  isSecret: boolean,
  keep: ReturnType<typeof keepOnce>,
): Promise<Pick<VariableSpec, "value" | "valueFrom">> {
  if (!isSecret) return { value };
  const { value: kept } = await keep({ value });
  return kept === undefined ? {} : { valueFrom: kept };
}

/** The operator checks them again: it knows the bytes of secrets, and requests at once cannot exceed the limits together. */
function checkBounds(name: string, value: string, known: ReadonlyMap<string, VariableResource>): void {
  const { count, totalBytes } = variableLimits;
  if (!known.has(name) && known.size >= count)
    throw new QuotaExceeded(`${known.size} variables are set, the limit is ${count}: delete some of them`, { code: "variables_full" });
  const others = [...known.values()].filter(({ spec }) => spec.name !== name);
  const used = others.reduce(
    (sum, { spec, status }) => sum + bytesOfVariable(spec.name, spec.value ?? "") + (spec.value === undefined ? (status.bytes ?? 0) : 0),
    0,
  );
  const bytes = used + bytesOfVariable(name, value);
  if (bytes > totalBytes)
    throw new QuotaExceeded(
      `with ${name}, the variables would have ${bytes} bytes, the limit is ${totalBytes}: shorten or delete some of them`,
      {
        code: "variables_full",
      },
    );
}

export async function deleteVariable({ metadata }: VariableResource, { store }: Pick<ApiPorts, "store">): Promise<void> {
  await unlessDeleted(store.delete(variableKind, metadata.namespace, metadata.name));
}

/** @throws NotFound */
export function getVariable(name: string, known: ReadonlyMap<string, VariableResource>): VariableResource {
  const found = known.get(name);
  if (found === undefined) throw new NotFound(`the variable '${name.slice(0, 80)}' is not set`);
  return found;
}

/** @param changedAt epoch ms of a change that the operator may not have seen yet */
export function variableResponse(variable: VariableResource, changedAt?: number): Answered<typeof variableSchema> {
  const { metadata, spec, status } = variable;
  const created = Date.parse(metadata.creationTimestamp);
  const ready = status.conditions?.find(({ type, observedGeneration }) => type === "Ready" && observedGeneration >= metadata.generation);
  const healthy = ready === undefined ? null : ready.status === "True";
  return {
    name: spec.name,
    value: spec.value ?? null,
    secret: spec.valueFrom !== undefined,
    origin: spec.shared === true ? "shared" : "own",
    healthy,
    problem: healthy === false ? (ready?.message ?? null) : null,
    updated_at: new Date(Math.max(created, changedAt ?? status.updatedAt ?? created)).toISOString(),
  };
}
