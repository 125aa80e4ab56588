import { z } from "zod";
import { props, secrets } from "./props.ts";
import { baseStatus, columnsOf, dateTime, defineKind, resourceName, type Resource } from "./resource.ts";
import { componentAddress, exactlyOneOf, structural, withRules } from "./rules.ts";
import { entryPath, moduleFiles, moduleText } from "./component.ts";
import type { PropDefinition } from "../domain/component/definition.ts";
import { healthStates } from "../domain/source/source-health.ts";
import { runError } from "./run-error.ts";
import { dataKey } from "./secret-reference.ts";

/** Fields that say which code runs; exactly one of `code`, `codeFrom`, `componentRef` and `url` is set. */
const code = z.object({
  code: moduleText
    .optional()
    .describe(
      "The module's source text, JavaScript or TypeScript, at most 1 MiB. Above 200 KiB, use `kubectl apply --server-side`. The operator creates a Component `<name>-code` from it, and deletes it with the source.",
    ),
  entry: entryPath.optional(),
  files: moduleFiles.optional(),
  codeFrom: z
    .object({
      configMapKeyRef: z
        .object({ name: resourceName.describe("Name of the ConfigMap."), key: dataKey.describe("Key within its data.") })
        .describe("A key of a ConfigMap in the source's namespace."),
    })
    .optional()
    .describe("The source text, from a ConfigMap of the namespace. Changes of the ConfigMap are deployed."),
  componentRef: z
    .object({ name: resourceName.describe("Name of the Component.") })
    .optional()
    .describe("A Component of the namespace. Several sources can share it."),
  url: componentAddress
    .optional()
    .describe(
      "URL of the module's source text, http or https, or an address of npm: `npm:<package>@<version>/<file>` or `npm:<package>@<version>#trigger/<name>`. Modules that it imports by relative paths are fetched too. It is fetched once per generation of the source: change `redeploy` to fetch it again.",
    ),
});

/**
 * All other fields of the spec. A failed update restores them together with the code. The REST API reads and writes those that its
 * schemas have (api/sources/settings.ts). A new field is optional or has a default: stored sources do not have it.
 */
const settings = z.object({
  name: z.string().min(1).max(255).optional().describe("Display name; its slug is unique within the owner. Default: the resource's name."),
  props,
  secrets,
  active: z.boolean().default(true).describe("If false, the source does not run, but keeps its endpoint, history and state."),
  emitOnDeploy: z.boolean().default(true).describe("If false, events of the component's deploy hook are dropped."),
  ignoreHookErrors: z
    .boolean()
    .default(false)
    .describe("If true, the source is deleted even if its deactivate hook throws. If false, the hook is tried three times first."),
});
export type SourceSettings = z.infer<typeof settings>;
export const sourceSettings = settings.keyof();
/** The settings of a source that sets none. */
export const defaultSettings: SourceSettings = settings.parse({});

const spec = withRules(
  z.object({
    ...code.shape,
    ...settings.shape,
    redeploy: z
      .string()
      .max(63)
      .optional()
      .describe(
        "Change it to any other text to deploy the unchanged spec again, for instance after a hook failed because of an external service.",
      ),
  }),
  exactlyOneOf(["code", "codeFrom", "componentRef", "url"], "they say which code the source runs"),
  {
    cel: "has(self.code) || !(has(self.files) || has(self.entry))",
    holds: ({ code, entry, files }) => code !== undefined || (files === undefined && entry === undefined),
    message: "files and entry belong to code: set them only beside it",
  },
);
export type SourceSpec = z.infer<typeof spec>;

const hookFailure = z.object({
  hook: z.enum(["deploy", "activate", "deactivate"]).describe("Which hook of the component."),
  error: runError,
});

const configurableProps = structural(
  z.custom<readonly PropDefinition[]>((value) => Array.isArray(value)),
  {
    type: "array",
    items: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: {
        name: { type: "string", description: "Name of the prop." },
        type: { type: "string", description: "Type of the prop." },
      },
    },
  },
);

/** The running spec, without its source text. */
const running = settings.extend({
  componentRef: z
    .object({ name: z.string().describe("Name of the Component.") })
    .optional()
    .describe("The Component that the running spec refers to. If absent, the spec has its own code."),
});

const problem = z.object({
  code: z.string().describe("Stable, in snake_case: the code of the run's error (`run_failed` if it has none), or the reason of `Ready`."),
  message: z.string().describe("What is wrong, for people."),
  since: dateTime().describe("Start of the problem, RFC 3339."),
});

const status = baseStatus.extend({
  nameSlug: z.string().optional().describe("Slug of the name, unique within the owner."),
  component: z
    .string()
    .optional()
    .describe("Name of the running Component: the one that the spec refers to, or the one created from `code`, `codeFrom` or `url`."),
  componentId: z.string().optional().describe("Public id of that component, `sc_…`."),
  deployment: z
    .string()
    .optional()
    .describe("Id `d_…` of the deployment; each deployed change has another. Absent while it is being replaced."),
  endpoint: z.string().optional().describe("URL for HTTP requests, if the component has an HTTP interface."),
  pool: z.string().optional().describe("Name of the RunnerPool that runs it."),
  endpointKey: z.string().optional().describe("The part of the endpoint's URL that identifies it."),
  configurableProps: configurableProps
    .optional()
    .describe("All props of the component if its code adds some, as it last returned them; otherwise absent."),
  configurableFor: z.string().optional().describe("Digest of the component and the values for which `configurableProps` was computed."),
  runningGeneration: z
    .int()
    .optional()
    .describe("Generation of the running spec. Older than observedGeneration while an update is pending, and after one has failed."),
  running: running.optional().describe("The running spec, if it differs from the spec because an update is pending or has failed."),
  hookFailures: z.array(hookFailure).optional().describe("Hooks that threw for the observed generation."),
  updatedAt: z.int().optional().describe("When the last change of the spec was deployed, epoch milliseconds."),
  state: z
    .enum(healthStates)
    .optional()
    .describe("State of the source: deployments show at once, failed runs within a few minutes. docs/api.md describes each state."),
  problem: problem.optional().describe("Current problem; absent if there is none."),
  // Resources never change with each run: the next five fields are refreshed every few minutes.
  lastRunTime: dateTime().optional().describe("Start of the last run, RFC 3339; refreshed every few minutes."),
  lastErrorTime: dateTime().optional().describe("Time of the last failed run, RFC 3339; refreshed every few minutes."),
  lastError: z.string().optional().describe("Error of that run, in one line."),
  nextTickTime: dateTime().optional().describe("Next tick of its timers when the status was written, RFC 3339."),
  backlog: z
    .int()
    .optional()
    .describe("Accepted invocations that are not finished; refreshed every few minutes, and absent until the first refresh."),
});
export type SourceStatus = z.infer<typeof status>;
export type SourceResource = Resource<SourceSpec, SourceStatus>;

/**
 * The running spec: the resource's spec, or the previous one while an update is pending or has failed. The status does not hold source
 * text: it refers to the Component with the source's own code instead, unless newer code has replaced that.
 */
export function runningSpec({ spec, status }: { readonly spec: SourceSpec; readonly status: SourceStatus }): SourceSpec {
  if (status.running === undefined) return spec;
  const { componentRef: reference, ...settings } = status.running;
  const component = reference?.name ?? status.component;
  const isReplaced = spec.componentRef === undefined && reference === undefined;
  const runningCode = isReplaced || component === undefined ? fieldsOf(code, spec) : { componentRef: { name: component } };
  return { ...settings, ...runningCode, ...(spec.redeploy === undefined ? {} : { redeploy: spec.redeploy }) };
}

/** The spec as `status.running` stores it. */
export function runningStatus(spec: SourceSpec): z.infer<typeof running> {
  return fieldsOf(running, spec);
}

/** The fields of the value that the schema has. */
function fieldsOf<Shape extends z.ZodRawShape, Value extends z.infer<z.ZodObject<Shape>>>(
  { shape }: z.ZodObject<Shape>,
  value: Value,
): z.infer<z.ZodObject<Shape>> {
  return Object.fromEntries(Object.entries(value).filter(([field]) => Object.hasOwn(shape, field))) as z.infer<z.ZodObject<Shape>>; // `value` has its fields.
}

export const sourceKind = defineKind<SourceSpec, SourceStatus>({
  kind: "Source",
  plural: "sources",
  shortNames: ["hwsrc"],
  description:
    "A deployed component: it runs on timers, HTTP requests and events of other sources, keeps state, and emits events that Subscriptions route. Its namespace must belong to an owner (label headwater.dev/owner).",
  columns: columnsOf(
    { name: "Component", type: "string", path: ".status.component", description: "Name of the running Component." },
    { name: "Endpoint", type: "string", path: ".status.endpoint", description: "URL for HTTP requests." },
    { name: "Active", type: "boolean", path: ".spec.active", description: "Whether the source may run.", wide: true },
    { name: "State", type: "string", path: ".status.state", description: "State of the source.", wide: true },
    { name: "Problem", type: "string", path: ".status.problem.code", description: "Code of the current problem.", wide: true },
    { name: "Last Run", type: "date", path: ".status.lastRunTime", description: "Time since the last run.", wide: true },
    { name: "Next Tick", type: "string", path: ".status.nextTickTime", description: "Next tick of its timers.", wide: true },
    { name: "Backlog", type: "integer", path: ".status.backlog", description: "Accepted invocations that are not finished.", wide: true },
    { name: "Last Error", type: "string", path: ".status.lastError", description: "Error of the last failed run.", wide: true },
  ),
  selectable: [".spec.componentRef.name", ".spec.active", ".status.id", ".status.component"],
  rules: [
    {
      cel: "has(self.spec.componentRef) || size(self.metadata.name) <= 58",
      holds: ({ metadata, spec: { componentRef } }) => componentRef !== undefined || metadata.name.length <= 58,
      message:
        "the name of a source with code, codeFrom or url has at most 58 characters: its component is named after it, with -code at the end",
    },
  ],
  // Defaults make input and output differ; a stored spec is always the output.
  spec: spec as unknown as z.ZodType<SourceSpec>,
  status,
});
