import type { Client } from "../../client/client.ts";
import type { Definition } from "../command.ts";
import { findDeployable } from "../component/named.ts";
import { rootOption, sendingOf } from "../component/sending.ts";
import { explained } from "../component/rejection.ts";
import { completeValues } from "../props/form.ts";
import { readerOfComponent, readerOfSource } from "../props/reader.ts";
import { givenValues, isNothingGiven, propOptions } from "../props/given-values.ts";
import { idOf } from "../references.ts";
import { present } from "../values.ts";
import { usageFailure } from "../failure.ts";
import { endpointLines } from "../output/endpoints.ts";

export const command: Definition = {
  description:
    "Changes a source: its code, its props or its name. Its id, endpoint and db stay. Props that are not given stay as they are.",
  arguments: [
    { name: "<source>", description: "a source", completes: "source" },
    { name: "[component]", description: "new code: a file, the address of one, or the key or id of a component", completes: "file" },
  ],
  options: [
    ...propOptions,
    rootOption,
    { flags: "--name <name>", description: "new display name" },
    { flags: "--newest", description: "the newest version of its package of npm, within the range that it was deployed with" },
    { flags: "--ignore-hook-errors", description: "call the deactivate hook once instead of three times" },
  ],
  examples: [
    { command: "hw update hello hello.mjs", does: "Replace the code of a source." },
    { command: "hw update hello --prop timer=30s", does: "Change a prop." },
  ],
  operations: [
    ...(["updateSource", "getSource", "saveComponent", "getComponent", "getPublishedComponent"] as const),
    ...(["listSourceProps", "listSourceOptions", "listComponentProps", "listComponentOptions"] as const),
  ],
  run: async (context, given) => {
    const { client, out, terminal } = context;
    const id = await idOf(client, "sources", given.required("source"));
    const named = given.text("component");
    const values = await givenValues(given);
    const { data: source } = await client.call("getSource", { path: { id } });
    const text = given.flag("newest") ? await originOf(client, source) : named;
    const found =
      text === undefined
        ? undefined
        : await terminal.progress("Building", () => explained(() => findDeployable(client, text, sendingOf(context, given))));
    for (const { message } of found?.warnings ?? []) out.note(`warning: ${message}`);
    const before = source.configured_props;
    // The API names a source after its new component, unless the request has a name.
    const name = given.text("name") ?? (found === undefined ? undefined : source.name);
    const body: Record<string, unknown> = present({ ...found?.body, name });
    if (found !== undefined) {
      const reader = readerOfComponent(client, found.key);
      body["configured_props"] = await completeValues(context, { reader, props: found.props, given: values, before, keepsSecrets: true });
    } else if (!isNothingGiven(values)) {
      const reader = readerOfSource(client, id);
      const props = await reader.props(before);
      body["configured_props"] = await completeValues(context, { reader, props, given: values, before, keepsSecrets: true });
    }
    if (
      given.flag("newest") &&
      found?.body !== undefined &&
      "component_id" in found.body &&
      found.body.component_id === source.component_id
    )
      return out.done({ data: source }, `source ${source.name_slug} has the newest version`);
    if (Object.keys(body).length === 0) throw usageFailure("nothing is to be changed", "name a file, or give --prop or --name");
    const query = given.flag("ignore-hook-errors") ? { ignore_hook_errors: true } : {};
    const answer = await terminal.progress("Deploying", () => explained(() => client.call("updateSource", { path: { id }, query, body })));
    await out.done(answer, [`source ${answer.data.name_slug} changed (${id})`, ...endpointLines(answer.data)].join("\n"));
  },
};

/** The address in npm that a source was deployed from. @throws Failure */
async function originOf(client: Client, source: { readonly name_slug: string; readonly component_id: string | null }): Promise<string> {
  const { component_id: key } = source;
  const origin = key === null ? null : (await client.call("getComponent", { path: { key } })).data.origin;
  if (origin !== null) return origin.url;
  throw usageFailure(`source ${source.name_slug} does not come from npm`, "name its new code: `hw update SOURCE COMPONENT`");
}
