import type { Client } from "../../client/client.ts";
import type { Run, RunInputs } from "../../client/generated/operations.ts";
import type { Context } from "../context.ts";
import { Failure, usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { definitionOf } from "../props/definition.ts";
import { givenValues, typedValues } from "../props/given-values.ts";
import { jsonOf, recordOf } from "../values.ts";
import type { LocalInput } from "./local-run.ts";

/** A source and one of its ended runs. @throws Failure for a run of a workflow, or one that has not ended */
export async function findRun(client: Client, id: string): Promise<{ readonly source: string; readonly run: Run }> {
  if (!id.startsWith("r_")) throw usageFailure(`${id} is not the id of a run`, "`hw runs SOURCE` lists them: r_…");
  const { spans, focus_id: focus } = (await client.call("getTrace", { path: { id }, query: { below: true } })).data;
  const { source_id: source, workflow_id: workflow } = spans.find((span) => span.id === focus) ?? {};
  if (workflow !== undefined)
    throw usageFailure(`${id} is a run of the workflow ${workflow}: hw debug executes runs of sources`, "`hw repeat` repeats it");
  if (source === undefined) throw new Failure(`the source of run ${id} was deleted`);
  const { data } = await client.call("getRun", { path: { id: source, run_id: id } });
  if (data.status === "running") throw new Failure(`run ${id} has not ended`, { hint: "try again when it has" });
  return { source, run: data };
}

/** Completes what the API has of a run. @throws Failure that names what is not stored, or not given */
export async function completeInputs(
  context: Context,
  given: Given,
  run: Run,
  inputs: RunInputs,
): Promise<Omit<LocalInput, "inspect_port">> {
  const { missing_props: missing, db, ...rest } = inputs;
  const { data: component } = await context.client.call("getComponent", { path: { key: inputs.component_id } });
  const definitions = component.configurable_props.map(definitionOf);
  const isAccount = (name: string): boolean => missing.some((prop) => prop.name === name && prop.type === "app");
  // Credentials are needed here, not the id of an account.
  const typed = typedValues(
    await givenValues(given),
    definitions.map((each) => (isAccount(each.name) ? { ...each, type: "object" } : each)),
  );
  const isMissing = (name: string): boolean => missing.some((prop) => prop.name === name);
  const entries = Object.entries(typed);
  const asked = await askFor(
    context,
    missing.filter(({ name }) => !Object.hasOwn(typed, name)),
  );
  return {
    ...rest,
    event: await eventOf(given, run, inputs),
    props: { ...rest.props, ...Object.fromEntries(entries.filter(([name]) => !isMissing(name))) },
    secrets: { ...Object.fromEntries(entries.filter(([name]) => isMissing(name))), ...asked },
    db:
      given.text("db") === undefined
        ? storedDb(
            run,
            db,
            definitions.some(({ type }) => type === "$.service.db"),
          )
        : await givenDb(given),
    ...(run.hook === undefined ? {} : { hook: run.hook }),
  };
}

/** Secrets are typed without being shown; credentials of an account as JSON. */
async function askFor({ terminal }: Context, missing: RunInputs["missing_props"]): Promise<Readonly<Record<string, unknown>>> {
  const [first] = missing;
  if (first === undefined) return {};
  const example = ({ name, type }: { readonly name: string; readonly type: string }): string =>
    type === "app" ? `--prop ${name}='{"oauth_access_token":"…"}'` : `--prop ${name}=…`;
  const hint = `give ${missing.map(example).join(" ")}, or --props FILE`;
  if (!terminal.isInteractive)
    throw usageFailure(`the API does not return secrets and accounts; missing: ${missing.map(({ name }) => name).join(", ")}`, hint);
  const values: [string, unknown][] = [];
  for (const { name, type } of missing) {
    const what = type === "app" ? `Credentials of the account in ${name}, as JSON` : name;
    const text = await terminal.askSecret(what, hint);
    values.push([name, type === "string" ? text : await jsonOf(text, name)]);
  }
  return Object.fromEntries(values);
}

async function eventOf(given: Given, run: Run, inputs: RunInputs): Promise<unknown> {
  const text = given.text("event");
  if (text !== undefined) return jsonOf(text, "--event");
  if ("event" in inputs) return inputs.event;
  const why =
    run.status === "failed" || run.cause !== undefined ? "it was deleted, or too many events came after it" : "only failed runs keep it";
  throw new Failure(`the event of run ${run.id} is not stored: ${why}`, { hint: "give it with --event '{…}' or --event @file.json" });
}

function storedDb({ id }: Run, db: RunInputs["db"], hasDb: boolean): NonNullable<RunInputs["db"]> {
  if (db !== null) return db;
  if (!hasDb) return {};
  throw new Failure(`the db before run ${id} is not stored any more: it is for ten minutes, and while there is room`, {
    hint: `give it with --db '{"PROP":{"KEY":VALUE}}' or --db @file.json; --db '{}' is an empty one`,
  });
}

async function givenDb(given: Given): Promise<NonNullable<RunInputs["db"]>> {
  const props = Object.entries(recordOf(await jsonOf(given.text("db") ?? "", "--db"), "--db"));
  return Object.fromEntries(props.map(([prop, keys]) => [prop, recordOf(keys, `--db: ${prop}`)]));
}
