import { apiVersion } from "../resources/manifest.ts";
import type { Answers, TriggerAnswer } from "./answers.ts";
import type { ExportedStep, ExportedWorkflow } from "./export-format.ts";
import { codeOf, configuredValues, placeholder, valuesOf, variablesIn, withValues } from "./step-code.ts";

/** Something that a person does, and why. */
export interface Task {
  /** `trigger ti_1`, `step send`, `variable API_KEY`, … */
  readonly what: string;
  readonly why: string;
  readonly how: string;
  /** The workflow cannot run before; it is switched off. */
  readonly isRequired: boolean;
}

export interface Converted {
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Parts that run as they are. */
  readonly asIs: readonly string[];
  readonly tasks: readonly Task[];
}

type Fields = Record<string, unknown>;
const stepName = /^[A-Za-z_$][A-Za-z0-9_$]{0,62}$/;

/** @param name of the resource */
export function convert(workflow: ExportedWorkflow, name: string, answers: Answers): Converted {
  const { definition, slug } = workflow;
  const tasks: Task[] = [];
  const asIs: string[] = [];
  const triggers = (definition.triggers ?? []).flatMap(({ id }) => triggerOf(id, answers, asIs, tasks));
  const timeout = definition.settings?.["lambda_timeout"];
  const timeoutSeconds = typeof timeout === "number" && timeout > 0 ? Math.min(timeout, 3_600) : undefined;
  const steps = (definition.steps ?? []).flatMap((step) => {
    const converted = stepOf(step, workflow, answers, asIs, tasks);
    return converted === undefined ? [] : [{ ...converted, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) }];
  });
  tasks.push(...variableTasks(workflow), ...settingTasks(definition.settings ?? {}));
  const isReady = tasks.every(({ isRequired }) => !isRequired);
  if (!isReady && definition.inactive !== true)
    tasks.push({
      what: `workflow ${slug}`,
      why: "it is switched off until the rest is done",
      how: `hw resume ${name}`,
      isRequired: false,
    });
  const spec: Fields = {
    name: definition.name,
    active: isReady && definition.inactive !== true,
    triggers,
    steps,
    ...(definition.settings?.["error_notification"] === false ? { settings: { errorMails: false } } : {}),
  };
  return { manifest: { apiVersion, kind: "Workflow", metadata: { name }, spec }, asIs, tasks };
}

function triggerOf(id: string, { triggers }: Answers, asIs: string[], tasks: Task[]): readonly Fields[] {
  const answer = triggers[id];
  if (answer !== undefined) {
    asIs.push(`trigger ${id}`);
    return triggerFrom(answer);
  }
  const task = (why: string, how: string): readonly Fields[] => {
    tasks.push({ what: `trigger ${id}`, why, how: `${how}; in the answers file: triggers.${id}`, isRequired: true });
    return [];
  };
  switch (id.slice(0, 3)) {
    case "hi_":
      asIs.push(`trigger ${id}: an HTTP interface, at a new address`);
      return [{ http: {} }];
    case "ti_":
      return task("it is a timer, and the export does not say when", "give cron and timezone, or interval_seconds");
    case "dc_":
      return task("it is a source, and the export has only its id", "deploy that source here, and give its name or id as source");
    case "ei_":
      return task(
        "it is an email address, which Headwater does not have",
        "deploy headwater-mail for a mail gateway, and give it as source, or skip: true",
      );
    default:
      return task("its kind is not known", "give what starts the workflow here, or skip: true");
  }
}

function triggerFrom(answer: TriggerAnswer): readonly Fields[] {
  if ("skip" in answer) return [];
  if ("source" in answer)
    return [/^dc_[a-z0-9]+$/.test(answer.source) ? { source: answer.source } : { sourceRef: { name: answer.source } }];
  if ("http" in answer) return [{ http: answer.http.custom_response === undefined ? {} : { customResponse: answer.http.custom_response } }];
  const { cron, timezone, interval_seconds: intervalSeconds } = answer;
  const timer = Object.fromEntries(Object.entries({ cron, timezone, intervalSeconds }).filter(([, value]) => value !== undefined));
  return [{ timer }];
}

function stepOf(step: ExportedStep, workflow: ExportedWorkflow, answers: Answers, asIs: string[], tasks: Task[]): Fields | undefined {
  const { namespace: name, uses, disabled } = step;
  const what = `step ${name}`;
  const task = (why: string, how: string, isRequired = true): void => void tasks.push({ what, why, how, isRequired });
  if (disabled === true) {
    task("it is disabled there, so it is left out", "add it to the manifest if you need it", false);
    return undefined;
  }
  if (!stepName.test(name)) task("its name is no name of a step here", "give it another name in the manifest, also in expressions");
  const props = propsOf(step, answers, task);
  if (uses.startsWith("./")) {
    const found = codeOf(step, workflow.files);
    if ("gap" in found) {
      task(found.gap, "replace the code of the step in the manifest");
      return { name, code: placeholder(name, found.gap) };
    }
    for (const note of found.notes) task(note, "change its code: docs/migrating.md says what steps have");
    asIs.push(`${what}: its code`);
    return { name, code: found.code, ...props };
  }
  const component = componentOf(uses, answers);
  if (component !== undefined) {
    asIs.push(`${what}: ${component.url ?? component.componentKey}`);
    if (component.isGuessed)
      task(`it used ${uses}, and has the version that is at ${component.url} now`, "compare its props and what it returns", false);
    const { isGuessed: _, ...origin } = component;
    return { name, ...origin, ...props };
  }
  const { key, app } = partsOf(uses);
  const gap = `it uses the action '${uses}' of the service, which the export does not contain`;
  task(
    gap,
    `hw connectors search ${app} lists actions of npm, hw list registry those of Headwater; in the answers file: components.${key} with url or component_key, whose props may differ`,
  );
  return { name, code: placeholder(name, gap) };
}

interface Component {
  readonly url?: string;
  readonly componentKey?: string;
  /** Its address follows from its key, and no answer names it. */
  readonly isGuessed?: true;
}

function componentOf(uses: string, { components, components_at: at }: Answers): Component | undefined {
  const { key, app, name } = partsOf(uses);
  const answer = components[uses] ?? components[key];
  if (answer !== undefined) return "url" in answer ? { url: answer.url } : { componentKey: answer.component_key };
  if (at === undefined || name === "") return undefined;
  return { url: at.replaceAll("{app}", encodeURIComponent(app)).replaceAll("{name}", encodeURIComponent(name)), isGuessed: true };
}

/** Of `app-some-action@1.0.0`: key, app and name `some-action`. */
function partsOf(uses: string): { readonly key: string; readonly app: string; readonly name: string } {
  const key = uses.replace(/@[^@]*$/, "");
  const dash = key.indexOf("-");
  return dash < 0 ? { key, app: key, name: "" } : { key, app: key.slice(0, dash), name: key.slice(dash + 1) };
}

/** Accounts and data stores get the ids that they have here. */
function propsOf(step: ExportedStep, answers: Answers, task: (why: string, how: string) => void): Fields {
  const props = configuredValues(step.props ?? {});
  if (Object.keys(props).length === 0) return {};
  for (const id of new Set(valuesOf("authProvisionId", props)))
    if (answers.accounts[id] === undefined)
      task(
        `it uses the account ${id} of the service`,
        `connect one here (hw accounts connect APP, or hw accounts create APP), and give its id in the answers file: accounts.${id}`,
      );
  for (const id of new Set(valuesOf("storeId", props)))
    if (answers.stores[id] === undefined)
      task(
        `it uses the data store ${id} of the service`,
        `create one here (hw data-stores create NAME), copy its keys, and give its id or the name of a DataStore in the answers file: stores.${id}`,
      );
  const withAccounts = withValues("authProvisionId", props, (id) => answers.accounts[id] ?? id);
  return { props: withValues("storeId", withAccounts, (id) => answers.stores[id] ?? id) };
}

/** Each variable once, with the steps that read it. */
function variableTasks({ definition, files }: ExportedWorkflow): readonly Task[] {
  const readers = new Map<string, Set<string>>();
  for (const { namespace, uses, props, disabled } of definition.steps ?? []) {
    if (disabled === true) continue;
    const code = files.get(uses.replace(/^\.\//, ""))?.toString("utf8") ?? "";
    for (const name of variablesIn(`${code}\n${JSON.stringify(props ?? {})}`))
      readers.set(name, (readers.get(name) ?? new Set()).add(namespace));
  }
  return [...readers].map(([name, steps]) => ({
    what: `variable ${name}`,
    why: `read by ${[...steps].join(", ")}`,
    how: `hw variables set ${name}, with --secret if it is one`,
    isRequired: false,
  }));
}

/** Settings of the service that have a counterpart, or no meaning here. */
const knownSettings: ReadonlySet<string> = new Set(["error_notification", "lambda_timeout", "lambda_memory"]);

const settingTasks = (settings: Readonly<Record<string, unknown>>): readonly Task[] =>
  Object.keys(settings)
    .filter((name) => !knownSettings.has(name))
    .map((name) => ({
      what: `setting ${name}`,
      why: "it is not taken over",
      how: "docs/workflows.md lists the settings of workflows",
      isRequired: false,
    }));
