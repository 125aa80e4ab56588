import { usageFailure } from "../failure.ts";
import { kindNamed } from "../kinds/kinds.ts";
import { present } from "../values.ts";
import type { Manifest } from "./manifest.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { Session } from "./session.ts";

const nameOf = ({ name, spec }: Manifest): string => textOf(spec["name"] ?? name, `name of Variable ${name}`);

/** @throws Failure */
function textOf(value: unknown, what: string): string {
  if (typeof value !== "string") throw usageFailure(`${what} is no text: ${JSON.stringify(value)}`, "write it in quotes");
  return value;
}

/** @throws Failure for a variable of the installation, and for a secret that the files do not have */
async function set(session: Session, manifest: Manifest): Promise<{ readonly data: { readonly id: string } }> {
  const name = nameOf(manifest);
  const { value, valueFrom, shared } = manifest.spec;
  if (shared === true)
    throw usageFailure(`Variable ${manifest.name} is shared`, "an administrator sets it: `hw admin variables set`, or kubectl");
  const body =
    valueFrom === undefined
      ? { value: textOf(value ?? "", `value of Variable ${manifest.name}`), secret: false }
      : { value: session.secret(valueFrom, `Variable ${manifest.name}: valueFrom`), secret: true };
  await session.client.call("setVariable", { path: { name }, body });
  return { data: { id: name } };
}

export const variableResource: ResourceKind = {
  name: "Variable",
  listed: kindNamed("variables"),
  isExported: ({ origin }) => origin === "own",
  specOf: async (_session, { name, value }) => present({ name, value: value ?? undefined }),
  normalize: async (_session, { valueFrom, ...spec }) =>
    present({ ...spec, secrets: valueFrom === undefined ? undefined : { value: valueFrom } }),
  create: set,
  update: (session, _id, manifest) => set(session, manifest),
  finds: async (_session, items, manifest) => items.find((item) => item["origin"] === "own" && item["name"] === nameOf(manifest)),
};
