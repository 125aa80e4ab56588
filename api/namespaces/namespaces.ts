import { z } from "zod";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { text } from "../http/request/parameters.ts";
import { seconds } from "../resources/schemas.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { ApiPorts } from "../ports.ts";
import type { ClaimedNamespace } from "./ports.ts";

export const namespaceSchema = z
  .object({
    name: z.string(),
    owner: z.string().describe("`u_…` or `o_…`."),
    confirmed_at: seconds.nullable().describe("Null: not confirmed, so nothing of the owner is written to it and its resources wait."),
    labelled: z.boolean().describe("Whether its label `headwater.dev/owner` names the owner."),
    in_use: z.boolean().describe("Whether it is the namespace of the owner's resources. An owner has one."),
  })
  .meta({ id: "Namespace", description: "A namespace of Kubernetes that is labelled with the owner, or confirmed by the owner." });

export const namespaceResponse = (owner: string, { name, confirmedAt, isLabelled, isInUse }: ClaimedNamespace) => ({
  name,
  owner,
  confirmed_at: confirmedAt === null ? null : epochSeconds(confirmedAt),
  labelled: isLabelled,
  in_use: isInUse,
});

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names */
const namePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export const namespaceFields = z.object({
  name: text
    .regex(namePattern, "it must be the name of a namespace: at most 63 lower-case letters, digits and dashes")
    .describe("Name of the namespace, which need not exist yet."),
});

type Ports = Pick<ApiPorts, "namespaces">;

/** @throws InvalidInput where resources are not in Kubernetes, Conflict */
export async function confirmNamespace(owner: string, name: string, { namespaces }: Ports) {
  if (namespaces === undefined)
    throw new InvalidInput("this installation has no namespaces of Kubernetes to confirm: it stores resources in Postgres");
  await namespaces.confirm(owner, name);
  const found = (await namespaces.list(owner)).find((each) => each.name === name);
  if (found === undefined) throw new NotFound(); // Withdrawn in the meantime.
  return namespaceResponse(owner, found);
}

/** @throws NotFound */
export async function withdrawNamespace(owner: string, name: string, { namespaces }: Ports): Promise<void> {
  if (namespaces === undefined) throw new NotFound(`${owner} has not confirmed namespace '${name.slice(0, 80)}'`);
  await namespaces.withdraw(owner, name);
}
