import type { CANCEL_SYMBOL } from "@clack/prompts";
import type { Client } from "../../client/client.ts";
import type { Options } from "../../client/generated/operations.ts";
import { itemsOf, maxPageItems } from "../../client/pages.ts";
import { usageFailure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import { choiceOf, type PropDefinition } from "./definition.ts";
import type { OptionsRequest } from "./reader.ts";
import { exampleFor, typedValue } from "./given-values.ts";

interface Sources {
  readonly client: Client;
  /** Reads one page of a prop's choices. */
  readonly read: (request: OptionsRequest) => Promise<Options>;
}

interface Choice {
  readonly label: string;
  readonly value: unknown;
}

/** Choices of a list that are no value: they lead on. */
const more = Symbol("more");
const search = Symbol("search");
const typed = Symbol("typed");

const output = process.stderr;

/** Asks a person for the value of a prop; undefined leaves an optional one without. @throws Failure when the person cancels */
export async function askFor(prop: PropDefinition, sources: Sources): Promise<unknown> {
  if (prop.app !== undefined) return askAccount(prop, prop.app, sources.client);
  if (prop.type === "boolean") return askBoolean(prop);
  if (prop.hasRemoteOptions && !prop.isSecret) return askRemote(prop, sources);
  if (prop.options.length > 0 && !prop.type.endsWith("[]")) return askChoice(prop, prop.options.map(choiceOf));
  return askText(prop);
}

const messageOf = ({ label, name, description }: PropDefinition): string => {
  const title = label === name ? name : `${label} (${name})`;
  return printable(description === undefined ? title : `${title}\n${description.trim()}`);
};

/** @throws Failure when the person has cancelled */
async function answerOf<T>(answer: Promise<T>): Promise<Exclude<T, typeof CANCEL_SYMBOL>> {
  const { isCancel } = await import("@clack/prompts");
  const value = await answer;
  if (isCancel(value)) throw usageFailure("cancelled: nothing was changed");
  return value as Exclude<T, typeof CANCEL_SYMBOL>; // As just checked.
}

async function askText(prop: PropDefinition): Promise<unknown> {
  const { text, password } = await import("@clack/prompts");
  const validate = (answer: string | undefined): string | undefined => {
    if (answer === undefined || answer === "") return prop.isOptional ? undefined : "a value is needed";
    try {
      typedValue(answer, prop);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const message = messageOf(prop);
  const answer = await answerOf(
    prop.isSecret
      ? password({ message, validate, output })
      : text({ message, validate, output, placeholder: prop.type === "string" ? "" : prop.type }),
  );
  return answer === "" ? undefined : typedValue(answer, prop);
}

async function askBoolean(prop: PropDefinition): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  return answerOf(confirm({ message: messageOf(prop), output }));
}

async function askChoice(prop: PropDefinition, choices: readonly Choice[]): Promise<unknown> {
  const { autocomplete } = await import("@clack/prompts");
  const options = choices.map(({ label, value }) => ({ label, value }));
  return answerOf(autocomplete<unknown>({ message: messageOf(prop), options, maxItems: 10, output }));
}

/** Reads choices page by page, as far as the person goes. A list of several values is asked value by value elsewhere: as text. */
async function askRemote(prop: PropDefinition, { read }: Sources): Promise<unknown> {
  const { select, spinner, text } = await import("@clack/prompts");
  let [page, query, context]: [number, string, unknown] = [0, "", undefined];
  let choices: readonly Choice[] = [];
  for (;;) {
    const progress = spinner({ output });
    progress.start(printable(`Reading choices of ${prop.label}`));
    const answer = await read({
      prop_name: prop.name,
      page,
      ...(context === undefined ? {} : { prev_context: context }),
      ...(query === "" ? {} : { query }),
    }).finally(() => progress.clear());
    const seen = new Set(choices.map(({ value }) => JSON.stringify(value)));
    const added = answer.options.map(choiceOf).filter(({ value }) => !seen.has(JSON.stringify(value)));
    choices = [...choices, ...added];
    const hasMore = added.length > 0 && (answer.context !== null || answer.truncated === true);
    const options = [
      ...choices,
      ...(hasMore ? [{ label: "… more choices", value: more }] : []),
      ...(prop.searches ? [{ label: "… search", value: search }] : []),
      { label: "… another value", value: typed },
    ];
    const chosen: unknown = await answerOf(
      select<unknown>({ message: messageOf(prop), options, initialValue: added[0]?.value, maxItems: 12, output }),
    );
    if (chosen === typed) return askText(prop);
    if (chosen === search) {
      query = await answerOf(text({ message: printable(`Search ${prop.label}`), output }));
      [page, context, choices] = [0, undefined, []];
    } else if (chosen === more) {
      page += 1;
      context = answer.context ?? undefined;
    } else return prop.type.endsWith("[]") ? [chosen] : chosen;
  }
}

/** The accounts of the app, of which the person picks one. @throws Failure if there is none */
async function askAccount(prop: PropDefinition, app: string, client: Client): Promise<unknown> {
  const choices: Choice[] = [];
  const pages = itemsOf((after) =>
    client.call("listMyAccounts", { query: { app, limit: maxPageItems, ...(after === undefined ? {} : { after }) } }),
  );
  for await (const { id, name } of pages) choices.push({ label: printable(`${name} (${id})`), value: { authProvisionId: id } });
  if (choices.length === 0)
    throw usageFailure(`there is no account of ${app} for prop ${prop.name}`, `\`hw accounts\` stores one; then ${exampleFor(prop)}`);
  return askChoice(prop, choices);
}
