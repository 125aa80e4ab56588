import type { Client } from "../../client/client.ts";
import type { Source } from "../../client/generated/operations.ts";
import type { ComponentFiles } from "../component/files.ts";
import type { Sending } from "../component/sending.ts";
import { explained } from "../component/rejection.ts";
import type { Context } from "../context.ts";
import { completeValues } from "../props/form.ts";
import { readerOfComponent, type Values } from "../props/reader.ts";
import type { GivenValues } from "../props/given-values.ts";
import { findPersonal } from "./personal-source.ts";

export interface Deployed {
  readonly source: Source;
  readonly warnings: readonly string[];
  readonly isNew: boolean;
}

interface Target {
  readonly file: string;
  /** Name of the personal source. */
  readonly name: string;
  /** Instead of a personal source. */
  readonly existing?: Source | undefined;
  readonly given: GivenValues;
  readonly sending: Sending;
}

/** Deploys a file to the personal source, which it creates when it is missing. @throws Failure, with a code frame for a mistake in the code */
export async function deployFirst(context: Context, { file, name, existing, given, sending }: Target): Promise<Deployed> {
  const { client } = context;
  const files = await sending(file);
  const [before, component] = await Promise.all([
    existing ?? findPersonal(client, name),
    explained(() => client.call("saveComponent", { body: files })),
  ]);
  const { id, configurable_props: props } = component.data;
  const known: Values = before?.configured_props ?? {};
  const names = new Set(props.map((prop) => prop.name));
  const kept = Object.fromEntries(Object.entries(known).filter(([each]) => names.has(each)));
  const form = { reader: readerOfComponent(client, id), props, given, before: kept, keepsSecrets: before !== undefined };
  const configured_props = await completeValues(context, form);
  const body = { component_id: id, configured_props, name, active: true };
  const answer = await explained(() =>
    before === undefined
      ? client.call("createSource", { body })
      : client.call("updateSource", { path: { id: before.id }, body: { ...body, ignore_hook_errors: true } }),
  );
  return { source: answer.data, warnings: warningsOf(component), isNew: before === undefined };
}

/** Replaces the code of the source in one request; the API answers when the new version runs. */
export async function redeploy(client: Client, { id, name }: Pick<Source, "id" | "name">, files: ComponentFiles): Promise<Deployed> {
  const body = { ...codeOf(files), name, ignore_hook_errors: true };
  const answer = await explained(() => client.call("updateSource", { path: { id }, body }));
  return { source: answer.data, warnings: warningsOf(answer), isNew: false };
}

const codeOf = ({ component_files, component_entry }: ComponentFiles) => ({ component_files, component_entry });

function warningsOf({ warnings = [] }: { readonly warnings?: readonly { readonly message: string }[] | undefined }): string[] {
  return warnings.map(({ message }) => message);
}
