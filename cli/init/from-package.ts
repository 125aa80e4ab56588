import type { Client } from "../../client/client.ts";
import type { Prop } from "../../client/generated/operations.ts";
import { usageFailure } from "../failure.ts";

type Kind = "source" | "action" | "workflow";

/** The files of a project that begins with a component of a package of npm, at its address. @throws Failure unless it is of the kind */
export async function filesFromPackage(
  client: Client,
  { address, name, kind }: { readonly address: string; readonly name: string; readonly kind: Kind },
): Promise<Readonly<Record<string, string>>> {
  if (!address.startsWith("npm:"))
    throw usageFailure(`"${address}" is no address of npm`, "write npm:<package>#action/<name> or npm:<package>#trigger/<name>");
  const type = /#trigger\//.test(address) ? "source" : /#action\//.test(address) ? "action" : undefined;
  if (type !== undefined && type !== (kind === "source" ? "source" : "action"))
    throw usageFailure(
      `${address} is ${type === "action" ? "an action" : "a trigger"}`,
      `write hw init ${type === "action" ? "workflow" : "source"} ${name} --from ${address}`,
    );
  const { data } = await client.call("saveComponent", { body: { component_url: address } });
  const { code, configurable_props: props } = (await client.call("getComponent", { path: { key: data.id } })).data;
  const file = kind === "workflow" ? `${stepName(address)}.mjs` : `${name}.mjs`;
  return {
    [file]: code,
    ...(kind === "workflow" ? { "workflow.yaml": workflow(name, file, stepName(address), props) } : {}),
    "package.json": `${JSON.stringify({ name, version: "0.1.0", private: true, type: "module" }, undefined, 2)}\n`,
  };
}

/** Names of members of pieces may have dashes; those of steps have none. */
const stepName = (address: string): string => (/[#/]([\w-]+)(?:\.\w+)?$/.exec(address)?.[1] ?? "step").replaceAll("-", "_");

/** Values are written in place of the comments: an account as {authProvisionId: apn_…}, texts with expressions in double braces. */
const workflow = (name: string, file: string, step: string, props: readonly Prop[]): string => `name: ${JSON.stringify(name)}
triggers:
  - type: http
steps:
  - name: ${step}
    file: ${file}
    props:
${props.map(propLine).join("\n")}
`;

function propLine(prop: Prop): string {
  const { name, label, type, optional } = prop as Prop & { readonly label?: string | null; readonly optional?: boolean };
  return `      # ${name}: ${JSON.stringify(label ?? name)} (${type}${optional === true ? ", optional" : ""})`;
}
