import { z } from "zod";
import { props, secrets } from "./props.ts";
import { baseStatus, columnsOf, dateTime, defineKind, resourceName } from "./resource.ts";
import { exactlyOneOf, httpUrl, structural, withRules } from "./rules.ts";
import { entryPath, moduleFiles, moduleText } from "./component.ts";
import type { PropDefinition } from "../domain/definition.ts";
import { healthStates } from "../domain/source-health.ts";
import { runError } from "./run-error.ts";
import { dataKey } from "./secret-reference.ts";

const spec = withRules(
  z.object({
    name: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("Display name; its slug is unique within the owner. Without one the resource's name."),
    code: moduleText
      .optional()
      .describe(
        "The module's source text, JavaScript or TypeScript, at most 1 MiB. Of more than 200 KiB, apply with `kubectl apply --server-side`. The operator keeps a Component `<name>-code` of it that ends with the source.",
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
      .describe("The same, from elsewhere in the namespace; a change there is deployed."),
    componentRef: z
      .object({ name: resourceName.describe("Name of the Component.") })
      .optional()
      .describe("A Component of the namespace; many sources can share one."),
    url: httpUrl
      .optional()
      .describe(
        "Address of the module's source text, http or https; the modules it imports by relative paths are read from there too. Read once for each generation of the source: change `redeploy` to read it again.",
      ),
    props,
    secrets,
    active: z.boolean().default(true).describe("False: it keeps its endpoint, history and state, and does not run."),
    emitOnDeploy: z.boolean().default(true).describe("False drops what the component's deploy hook emits."),
    ignoreHookErrors: z
      .boolean()
      .default(false)
      .describe("True: it is deleted at once even when its deactivate hook throws; else the hook is tried three times."),
    redeploy: z
      .string()
      .max(63)
      .optional()
      .describe(
        "Any other text deploys again what is otherwise the same, for instance after a hook failed for a reason that lies elsewhere.",
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

/** The spec that runs, without the text of its code. */
const running = z.object({
  name: z.string().optional().describe("Display name; absent: the resource's name."),
  componentRef: z
    .object({ name: z.string().describe("Name of the Component.") })
    .optional()
    .describe("The Component, when the spec that runs refers to one; else it has code of its own."),
  props,
  secrets,
  active: z.boolean().describe("Whether it may run."),
  emitOnDeploy: z.boolean().describe("As in the spec."),
  ignoreHookErrors: z.boolean().describe("As in the spec."),
});

const problem = z.object({
  code: z.string().describe("Stable, snake_case: the code of the run's error (`run_failed` if it has none), or the reason of `Ready`."),
  message: z.string().describe("What is wrong, for people."),
  since: dateTime().describe("Since when, RFC 3339."),
});

const status = baseStatus.extend({
  nameSlug: z.string().optional().describe("Slug of the name, unique within the owner."),
  component: z
    .string()
    .optional()
    .describe("Name of the Component that runs: the one referred to, or the one made from `code`, `codeFrom` or `url`."),
  componentId: z.string().optional().describe("Public id of that component, `sc_…`."),
  deployment: z
    .string()
    .optional()
    .describe("Id `d_…` of what is deployed; another one after each change that was deployed. Absent while that is being replaced."),
  endpoint: z.string().optional().describe("Address at which it takes HTTP requests, when its component has an HTTP interface."),
  pool: z.string().optional().describe("Name of the RunnerPool that its runs go to."),
  endpointKey: z.string().optional().describe("The part of that address by which it is known."),
  configurableProps: configurableProps
    .optional()
    .describe("All props of a component with additional ones, as its code last told of them; absent without any."),
  configurableFor: z.string().optional().describe("Digest of the component and the values that its code told them for."),
  runningGeneration: z
    .int()
    .optional()
    .describe("Generation of the spec that runs. Older than observedGeneration while an update waits, and after one has failed."),
  running: running.optional().describe("What runs, when that is not what the spec asks for: an update waits or has failed."),
  hookFailures: z.array(hookFailure).optional().describe("Hooks that threw for the observed generation."),
  updatedAt: z.int().optional().describe("When the last change of the spec was deployed, epoch milliseconds."),
  state: z
    .enum(healthStates)
    .optional()
    .describe("How it is doing: a deployment shows at once, failed runs within a few minutes. docs/api.md says what each means."),
  problem: problem.optional().describe("What is wrong; absent when nothing is."),
  // What changes with each run is never in a resource: the next five are refreshed every few minutes.
  lastRunTime: dateTime().optional().describe("Start of its last run, RFC 3339; refreshed every few minutes."),
  lastErrorTime: dateTime().optional().describe("Time of its last run that failed, RFC 3339; refreshed every few minutes."),
  lastError: z.string().optional().describe("What that run threw, in a line."),
  nextTickTime: dateTime().optional().describe("Next tick of its timers when this was written, RFC 3339."),
  backlog: z.int().optional().describe("Invocations accepted and not finished; refreshed every few minutes, absent before the first time."),
});
export type SourceStatus = z.infer<typeof status>;

/**
 * The spec that runs: the one that was asked for, or the one before it while an update waits and after it has failed. Code of the source's
 * own is not kept in the status: there the Component that it was kept in stands for it, unless newer code has replaced that.
 */
export function runningSpec({ spec, status }: { readonly spec: SourceSpec; readonly status: SourceStatus }): SourceSpec {
  if (status.running === undefined) return spec;
  const { componentRef = status.component === undefined ? undefined : { name: status.component }, ...running } = status.running;
  const { code, entry, files, codeFrom, url } = spec;
  const own = {
    ...(code === undefined ? {} : { code }),
    ...(entry === undefined ? {} : { entry }),
    ...(files === undefined ? {} : { files }),
  };
  const from = { ...(codeFrom === undefined ? {} : { codeFrom }), ...(url === undefined ? {} : { url }) };
  const isReplaced = spec.componentRef === undefined && status.running.componentRef === undefined;
  const runs = isReplaced || componentRef === undefined ? { ...own, ...from } : { componentRef };
  return { ...running, ...runs, ...(spec.redeploy === undefined ? {} : { redeploy: spec.redeploy }) };
}

export const sourceKind = defineKind<SourceSpec, SourceStatus>({
  kind: "Source",
  plural: "sources",
  shortNames: ["hwsrc"],
  description:
    "A component at work: it runs on timers, HTTP requests and the events of others, keeps state, and emits events that Subscriptions route. Its namespace must belong to an owner (label headwater.dev/owner).",
  columns: columnsOf(
    { name: "Component", type: "string", path: ".status.component", description: "Name of the Component that runs." },
    { name: "Endpoint", type: "string", path: ".status.endpoint", description: "Address at which it takes HTTP requests." },
    { name: "Active", type: "boolean", path: ".spec.active", description: "Whether it may run.", wide: true },
    { name: "State", type: "string", path: ".status.state", description: "How it is doing.", wide: true },
    { name: "Problem", type: "string", path: ".status.problem.code", description: "What is wrong, in a word.", wide: true },
    { name: "Last Run", type: "date", path: ".status.lastRunTime", description: "Time since its last run.", wide: true },
    { name: "Next Tick", type: "string", path: ".status.nextTickTime", description: "Next tick of its timers.", wide: true },
    { name: "Backlog", type: "integer", path: ".status.backlog", description: "Invocations accepted and not finished.", wide: true },
    { name: "Last Error", type: "string", path: ".status.lastError", description: "What its last failed run threw.", wide: true },
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
