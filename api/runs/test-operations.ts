import { z } from "zod";
import { accountPropsOf } from "../../domain/component/account-props.ts";
import { HeadwaterError, LimitExceeded } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { DryRunOutcome } from "../../domain/invocation/dry-run.ts";
import { defaultEvent } from "../../domain/invocation/manual-event.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { codeFields } from "../components/request.ts";
import { resolveComponent } from "../components/resolve.ts";
import { operation, type ApiContext } from "../context.ts";
import { dropBody, type Call, type Input } from "../http/request/call.ts";
import { optional, ownerParameters } from "../http/request/parameters.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { publicIdOf } from "../resources/identity.ts";
import { dryRunResponse } from "./response.ts";
import { dryRunSchema } from "./schemas.ts";
import { checkStores } from "../sources/store-props.ts";
import { checkAccounts } from "../sources/account-props.ts";
import { definitionFor } from "../sources/definition-for.ts";
import { storedProps } from "../sources/props.ts";

const fields = codeFields.extend({
  configured_props: optional(z.record(z.string(), z.unknown())).describe("Values by name of the prop."),
  event: z.unknown().optional().describe("Argument of `run`. Default: a tick of its first timer, or an empty request, with `test: true`."),
});

const testSchema = dryRunSchema
  .omit({ source_id: true })
  .extend({ component_id: z.string().describe("The component that ran, `sc_…`.") })
  .meta({ id: "SourceTest", description: "What a source would emit and store in its first run." });

/** Event and draft are one message. */
const maxDraftBytes = 512 * 1024;

/** Like a dry run, for a source that does not exist yet. */
export const sourceTestOperations = [
  operation({
    route: "POST /sources/test",
    id: "testSource",
    change: { action: "test", kind: "Source" },
    summary: "Test a component with these props, without deploying it",
    description:
      "Runs `run` once, with an empty `db` and without hooks and an endpoint. The call is real, and its events are in the response alone: nothing is stored or delivered. The response is 200 even if the code throws.",
    query: ownerParameters,
    body: fields,
    takesFiles: true,
    takesEvent: true,
    responses: one(testSchema),
    errors: [504],
    handle: async (call, context) => {
      const test = await startTest(call, context);
      dropBody(call);
      const outcome = await test.outcome;
      if (outcome !== undefined) {
        const { source_id: component, ...result } = dryRunResponse(test, outcome);
        return ok({ ...result, component_id: component });
      }
      const seconds = Math.round(context.config.runTimeoutMs / 1000);
      const message = `the test did not end within ${seconds} s, or no runner started it: it stored nothing, try again`;
      throw new HeadwaterError(504, "test_timeout", message);
    },
  }),
];

interface StartedTest {
  readonly run: string;
  /** Public id of the component. */
  readonly source: string;
  readonly outcome: Promise<DryRunOutcome | undefined>;
}

/** Checks the component and its props as for a deployment, and requests the run. Only this function holds the event, see `dropBody`. */
async function startTest(call: Call & Input<unknown, z.output<typeof fields>>, context: ApiContext): Promise<StartedTest> {
  const { config, ports } = context;
  const { event, configured_props: props = {}, ...code } = call.body();
  const owner = await context.access.owner(call);
  const { component, build } = await resolveComponent(code, owner, call.user, context);
  const { namespace, name } = component.metadata;
  const definition = await definitionFor(component, build.definition, { props }, context);
  await checkAccounts(accountPropsOf(build.definition, props), namespace, context);
  await checkStores(definition, props, namespace, context);
  await storedProps(definition, props, undefined, async () => ({}));
  const additional = definition.hasAdditionalProps ? { configurableProps: definition.props } : {};
  const given = event === undefined ? testEvent(defaultEvent({ definition, props, endpoint: null }, ports.clock.now())) : event;
  const draft = await ports.sourceTests.seal({ namespace, tested: name, props, ...additional });
  checkSize(draft);
  const [run, source] = [newId("run", ports.randomBytes), publicIdOf(component)];
  const about = { run, source, owner, pool: draft.pool, generation: draft.generation };
  const request = { ...about, draft, timeoutMs: config.runTimeoutMs, ...(given === undefined ? {} : { event: given }) };
  return { run, source, ...(await ports.runs.dryRun(request)) };
}

/** A component may answer a test with samples: a first tick often finds nothing new. */
const testEvent = (event: object | undefined): object | undefined => (event === undefined ? undefined : { ...event, test: true });

function checkSize(draft: Deployment): void {
  const bytes = Buffer.byteLength(JSON.stringify(draft));
  if (bytes > maxDraftBytes)
    throw new LimitExceeded(
      `the source has ${bytes} bytes of JSON with its props: the limit of a test is ${maxDraftBytes}; deploy it first`,
    );
}
