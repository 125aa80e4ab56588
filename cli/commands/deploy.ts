import type { Arguments } from "../../client/client.ts";
import { isWorkflowFile } from "../component/files.ts";
import { componentArgument, findDeployable } from "../component/named.ts";
import { explained } from "../component/rejection.ts";
import { rootOption, sendingOf } from "../component/sending.ts";
import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { exitCodes, Failure } from "../failure.ts";
import type { Given } from "../given.ts";
import { completeValues } from "../props/form.ts";
import { readerOfComponent } from "../props/reader.ts";
import { givenValues, propOptions } from "../props/given-values.ts";
import { endpointLines } from "../output/endpoints.ts";
import { runLines } from "../output/run-lines.ts";
import { present } from "../values.ts";

export const command: Definition = {
  description:
    "Deploys a component as a new source: a file with all that it imports, its address, or a key of the registry. " +
    "In a terminal it asks for missing props; a YAML file is a workflow.",
  arguments: [componentArgument],
  options: [
    ...propOptions,
    rootOption,
    { flags: "--name <name>", description: "display name; by default that of the component" },
    { flags: "--paused", description: "deploy it without starting it" },
    { flags: "--test", description: "run it once with these props and show what it would emit and store; deploy nothing" },
  ],
  examples: [
    { command: "hw deploy hello.mjs", does: "Deploy a file." },
    { command: "hw deploy hello.mjs --prop timer=10s --name 'Ten seconds'", does: "Deploy it with values of props." },
    {
      command: "hw deploy npm:@activepieces/piece-notion#trigger/new_database_item",
      does: "Deploy a trigger of a package of npm.",
      isInert: true,
    },
    { command: "hw deploy hello.mjs --test", does: "Show what it would emit." },
    { command: "hw deploy headwater-schedule --prop timer='*/5 * * * *'", does: "Deploy a component of the registry." },
  ],
  operations: [
    ...([
      "createSource",
      "testSource",
      "saveComponent",
      "getComponent",
      "getPublishedComponent",
      "listComponentProps",
      "listComponentOptions",
    ] as const),
    ...(["listMyAccounts", "createWorkflow", "updateWorkflow", "listMyWorkflows"] as const),
  ],
  run: async (context, given) => {
    const text = given.required("component");
    if (isWorkflowFile(text)) {
      const { deployWorkflow } = await import("../component/workflow-file.ts");
      return deployWorkflow(context, text, given.text("root"));
    }
    await deploySource(context, text, given);
  },
};

type TestBody = NonNullable<Arguments<"testSource">["body"]>;

async function testSource({ client, out, terminal }: Context, body: TestBody): Promise<void> {
  const answer = await terminal.progress("Testing", () => explained(() => client.call("testSource", { body })));
  await out.document(answer, () => runLines(answer.data));
  const { error } = answer.data;
  if (error !== null) throw new Failure(`the test failed: ${error.message}`, { exitCode: exitCodes.failure });
}

async function deploySource(context: Context, text: string, given: Given): Promise<void> {
  const { client, out, terminal } = context;
  const found = await terminal.progress("Building", () => explained(() => findDeployable(client, text, sendingOf(context, given))));
  for (const { message } of found.warnings) out.note(`warning: ${message}`);
  const form = { reader: readerOfComponent(client, found.key), props: found.props, given: await givenValues(given) };
  const configured_props = await completeValues(context, form);
  if (given.flag("test")) return testSource(context, { ...found.body, configured_props });
  const body = {
    ...found.body,
    configured_props,
    ...present({ name: given.text("name") }),
    ...(given.flag("paused") ? { active: false } : {}),
  };
  const answer = await terminal.progress("Deploying", () => explained(() => client.call("createSource", { body })));
  await out.done(answer, [`source ${answer.data.name_slug} deployed (${answer.data.id})`, ...endpointLines(answer.data)].join("\n"));
  const { name_slug: slug } = answer.data;
  if (out.format === "table") out.note(`    \`hw events ${slug} -f\` shows its events, \`hw logs ${slug} -f\` its log`);
}
