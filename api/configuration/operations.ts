import { z } from "zod";
import type { ConfigureCall } from "../../domain/component/configure.ts";
import { Invariant, LimitExceeded, Unavailable } from "../../domain/errors.ts";
import { ok, type Call } from "../http/request/call.ts";
import { parse, text } from "../http/request/parameters.ts";
import type { ConfigureRequest } from "../ports.ts";
import { componentNameOf } from "../sources/facts.ts";
import { asItRuns } from "../resources/running-source.ts";
import { componentOf } from "../components/operations.ts";
import type { ApiContext } from "../context.ts";
import { sourceOf } from "../sources/operations.ts";

/** Absent and null are equivalent, for clients that always send every field. */
const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

/** Bound on the JSON of all values; each stored value may have 64 KiB. */
const maxBytes = 512 * 1024;

export const values = z.object({ configured_props: optional(z.record(z.string(), z.unknown())) });
export const options = values.extend({
  prop_name: text.min(1, "it must not be empty").max(255, "it must have at most 255 characters"),
  page: optional(z.int("it must be an integer of at least 0").min(0, "it must be an integer of at least 0")),
  prev_context: optional(z.unknown()),
  query: optional(z.string().max(1_000, "it must have at most 1000 characters")),
});

type Configured = Omit<ConfigureRequest, "call">;

/** Calls a component's code while a user configures it, with the values chosen so far. */
export function configurationRoutes(context: ApiContext) {
  return {
    componentOptions: async (call: Call) => listOptions(call, await ofComponent(call, context), context),
    componentProps: async (call: Call) => listProps(call, await ofComponent(call, context), context),
    sourceOptions: async (call: Call) => listOptions(call, await ofSource(call, context), context),
    sourceProps: async (call: Call) => listProps(call, await ofSource(call, context), context),
  };
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

async function listOptions({ body }: Call, configured: Configured, { ports }: ApiContext) {
  const { prop_name, page = 0, prev_context, query, configured_props } = parse(options, body);
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

async function listProps({ body }: Call, configured: Configured, { ports }: ApiContext) {
  const { configured_props } = parse(values, body);
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
