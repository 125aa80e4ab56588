import { z } from "zod";
import { workflowKind } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import type { ConfigureCall } from "../../domain/component/configure.ts";
import { Invariant, LimitExceeded, NotFound, Unavailable } from "../../domain/errors.ts";
import { stepId } from "../../domain/workflow/step-id.ts";
import { knownProps } from "../../domain/workflow/step-props.ts";
import { componentOf } from "../components/find.ts";
import { selection } from "../components/request.ts";
import { configurableProps } from "../components/schemas.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { optional, ownerParameters, text } from "../http/request/parameters.ts";
import { ok } from "../http/response/replies.ts";
import { pathOf } from "../http/routing/handle.ts";
import { one } from "../http/response/schemas.ts";
import type { ConfigureRequest } from "../configure-ports.ts";
import { asItRuns } from "../resources/source.ts";
import { componentNameOf } from "../resources/source.ts";
import { sourceOf } from "../sources/find-source.ts";

/** Bound on the JSON of all values; each stored value may have 64 KiB. */
const maxBytes = 512 * 1024;

const values = z.object({ configured_props: optional(z.record(z.string(), z.unknown())).describe("Values by name of the prop.") });
const aboutPage = "it must be an integer of at least 0";
const options = values.extend({
  prop_name: text
    .min(1, "it must not be empty")
    .max(255, "it must have at most 255 characters")
    .describe("A prop whose options are a function."),
  page: optional(z.int(aboutPage).min(0, aboutPage)).describe("Number of the page; the first is 0."),
  prev_context: optional(z.unknown()).describe("The `context` of the previous page."),
  query: optional(z.string().max(1_000, "it must have at most 1000 characters")).describe("What a person typed to search."),
});

const optionsSchema = z
  .object({
    options: z.array(z.unknown()).describe("Values, or `{label, value}`."),
    context: z.unknown().describe("The prev_context of the next page; null if there is none."),
    truncated: z.literal(true).optional().describe("There were more options than the limit."),
  })
  .meta({ id: "Options" });

const propsSchema = z.object({ configurable_props: configurableProps }).meta({ id: "Props" });

/** Calls a component's code while a user configures it, with the values chosen so far. */
const optionsOperation = {
  changesNoResource: true,
  summary: "List the choices of a prop whose options are a function",
  body: options,
  responses: one(optionsSchema),
  errors: [504],
} as const;
const propsOperation = {
  changesNoResource: true,
  summary: "List all props for the values chosen so far",
  body: values,
  responses: one(propsSchema),
  errors: [504],
} as const;
const named = selection.extend(ownerParameters.shape);

/** Access is checked before the body is parsed. */
export const componentConfigurationOperations = [
  operation({
    ...optionsOperation,
    route: "POST /components/:key/options",
    id: "listComponentOptions",
    query: named,
    handle: async (call, context) => {
      const configured = await ofComponent(call, context);
      return listOptions(call.body(), configured, context);
    },
  }),
  operation({
    ...propsOperation,
    route: "POST /components/:key/props",
    id: "listComponentProps",
    query: named,
    handle: async (call, context) => {
      const configured = await ofComponent(call, context);
      return listProps(call.body(), configured, context);
    },
  }),
];

export const sourceConfigurationOperations = [
  operation({
    ...optionsOperation,
    route: "POST /sources/:id/options",
    id: "listSourceOptions",
    handle: async (call, context) => {
      const configured = await ofSource(call, context);
      return listOptions(call.body(), configured, context);
    },
  }),
  operation({
    ...propsOperation,
    route: "POST /sources/:id/props",
    id: "listSourceProps",
    handle: async (call, context) => {
      const configured = await ofSource(call, context);
      return listProps(call.body(), configured, context);
    },
  }),
];

export const stepConfigurationOperations = [
  operation({
    ...optionsOperation,
    route: "POST /workflows/:workflow_id/steps/:step/options",
    id: "listStepOptions",
    handle: async (call, context) => {
      const configured = await ofStep(call, context);
      const fields = call.body();
      return listOptions({ ...fields, configured_props: known(fields.configured_props) }, configured, context);
    },
  }),
  operation({
    ...propsOperation,
    route: "POST /workflows/:workflow_id/steps/:step/props",
    id: "listStepProps",
    handle: async (call, context) => {
      const configured = await ofStep(call, context);
      return listProps({ configured_props: known(call.body().configured_props) }, configured, context);
    },
  }),
];

/** Expressions have no value yet, so these props count as not chosen. */
const known = (props: Readonly<Record<string, unknown>> | undefined) => (props === undefined ? undefined : { ...knownProps(props) });

type Configured = Omit<ConfigureRequest, "call">;

/** The step in the path, by name or id. @throws NotFound */
async function ofStep(call: Call, { access }: ApiContext): Promise<Configured> {
  const id = pathOf(call, "workflow_id");
  const { metadata, spec, status } = await access.get(workflowKind, "workflow", id, call.user);
  const given = pathOf(call, "step");
  const step = stepsOf(spec).find(({ node: { name } }) => name === given || stepId(id, name) === given)?.node;
  if (step === undefined) throw new NotFound(`record not found: workflow ${id} has no step '${given.slice(0, 80)}'`);
  const component = step.componentRef?.name ?? status.steps?.find(({ name }) => name === step.name)?.component;
  if (component === undefined) throw new Unavailable("the step's component is not built yet: try again", { code: "component_not_built" });
  return { namespace: metadata.namespace, component, workflow: metadata.name, step: step.name };
}

async function ofComponent(call: Call, context: ApiContext): Promise<Configured> {
  const { namespace, name } = (await componentOf(call, context)).metadata;
  return { namespace, component: name };
}

async function ofSource(call: Call, context: ApiContext): Promise<Configured> {
  const source = await sourceOf(call, context);
  const component = componentNameOf(asItRuns(source));
  if (component === undefined) throw new Unavailable("the source's component is not built yet: try again", { code: "component_not_built" });
  return { namespace: source.metadata.namespace, component, source: source.metadata.name };
}

async function listOptions(fields: z.output<typeof options>, configured: Configured, { ports }: ApiContext) {
  const { prop_name, page = 0, prev_context, query, configured_props } = fields;
  const call: ConfigureCall = {
    kind: "options",
    prop: prop_name,
    page,
    ...(prev_context === undefined || prev_context === null ? {} : { prevContext: prev_context }),
    ...(query === undefined ? {} : { query }),
  };
  const result = await ports.configurations.configure({ ...configured, ...given(configured_props), call });
  if (result.outcome !== "options") throw new Invariant(`the operator replied with ${result.outcome} instead of options`);
  return ok({ options: result.options, context: result.context, ...(result.truncated ? { truncated: true } : {}) });
}

async function listProps({ configured_props }: z.output<typeof values>, configured: Configured, { ports }: ApiContext) {
  const result = await ports.configurations.configure({ ...configured, ...given(configured_props), call: { kind: "props" } });
  if (result.outcome !== "props") throw new Invariant(`the operator replied with ${result.outcome} instead of props`);
  return ok({ configurable_props: result.props.map(({ name, type, ...rest }) => ({ name, type, ...rest })) });
}

function given(props: Readonly<Record<string, unknown>> | undefined): Pick<ConfigureRequest, "props"> {
  if (props === undefined) return {};
  const bytes = Buffer.byteLength(JSON.stringify(props));
  if (bytes <= maxBytes) return { props };
  throw new LimitExceeded(`configured_props have ${bytes} bytes of JSON: the limit is ${maxBytes}`, {
    code: "configured_props_too_large",
    details: { bytes, limit: maxBytes },
  });
}
