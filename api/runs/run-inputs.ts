import { componentKind } from "../../crds/component.ts";
import { accountIdOf } from "../../domain/component/account-props.ts";
import { defaultEntry } from "../../domain/component/component-code.ts";
import { boundProps } from "../../domain/component/configure.ts";
import { type Build, type ComponentDefinition, withAdditional } from "../../domain/component/definition.ts";
import { runtimeProps } from "../../domain/component/prop-values.ts";
import { Conflict, LimitExceeded, NotFound } from "../../domain/errors.ts";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { defaultEvent } from "../../domain/invocation/manual-event.ts";
import type { RunSummary } from "../../domain/invocation/invocation.ts";
import { parseJsonOrNull } from "../../domain/json.ts";
import type { ApiContext } from "../context.ts";
import type { User } from "../http/ports.ts";
import type { Answered } from "../http/response/answered.ts";
import type { ComponentResource } from "../resources/components.ts";
import { maySeeEmitter } from "../resources/emitter.ts";
import { publicIdOf } from "../resources/identity.ts";
import { asItRuns, componentNameOf, type SourceResource } from "../resources/source.ts";
import { dbBefore } from "./db-before.ts";
import type { runInputsSchema } from "./schemas.ts";

/** Of a bundle and its source map. */
const maxBundleBytes = 24 * 2 ** 20;

type RunInputs = Answered<typeof runInputsSchema>;
type FoundRun = RunSummary & { readonly received?: string };

/**
 * What a run started from, as far as it is stored, without secrets.
 * @param isCurrent the version that is deployed now, if that of the run is no longer deployed
 * @throws Conflict if the version of the run is no longer deployed, NotFound, LimitExceeded, Unavailable
 */
export async function runInputs(
  source: SourceResource,
  run: FoundRun,
  isCurrent: boolean,
  user: User,
  context: ApiContext,
): Promise<RunInputs> {
  const id = publicIdOf(source);
  const deployment = await deploymentOf(source, run, isCurrent, context);
  const { component, build } = await builtComponent(source, context);
  const { spec, status } = asItRuns(source);
  const definition = withAdditional(build.definition, status.configurableProps);
  const missing = missingProps(definition, spec);
  const isMissing = (name: string): boolean => missing.some((prop) => prop.name === name);
  const props = Object.entries(runtimeProps(definition, spec.props)).filter(([name]) => !isMissing(name));
  const endpoint = status.endpoint ?? null;
  const owner = (await context.access.ownerOf(source)) ?? id;
  const { streams } = context.ports;
  const db = streams === undefined ? undefined : await dbBefore({ source: id, owner, id: run.id, startedAt: run.startedAt }, streams.runs);
  return {
    run_id: run.id,
    source_id: id,
    deployment_id: deployment,
    component_id: publicIdOf(component),
    ...codeOf(component),
    bundle: await bundleOf(build, context),
    ...(await eventOf(id, run, { definition, props: spec.props, endpoint }, user, context)),
    props: Object.fromEntries(props),
    missing_props: missing,
    additional_props: boundProps(build.definition, definition.props),
    db: db === undefined ? null : parsedDb(db),
    dedupe: definition.dedupe ?? null,
    endpoint,
  };
}

/** Only the deployed version has a bundle, and values of props. */
async function deploymentOf(source: SourceResource, run: FoundRun, isCurrent: boolean, { ports }: ApiContext): Promise<string> {
  const id = publicIdOf(source);
  const [traced] = await ports.traceRecords.runs([{ emitter: id, run: run.id }]);
  const ran = traced?.deployment ?? "";
  const { deployment } = source.status;
  if (isCurrent && deployment !== undefined) return deployment;
  // While an update is pending or has failed, the component may have a newer build than the one that runs.
  if (deployment === ran && isReady(source)) return deployment;
  const of = ran === "" ? "a version that is not recorded any more" : `version ${ran}`;
  const update = isReady(source) ? "" : ", with an update that is not deployed";
  throw new Conflict(
    `run ${run.id} ran on ${of}, and source ${id} has ${deployment ?? "none"}${update}: the code and the props of other versions are not stored; send {"current_version": true} to debug with the newest ones`,
    { code: "version_not_stored" },
  );
}

const isReady = ({ status }: SourceResource): boolean => status.conditions?.find(({ type }) => type === "Ready")?.status === "True";

async function builtComponent(
  source: SourceResource,
  { ports }: ApiContext,
): Promise<{ readonly component: ComponentResource; readonly build: Build }> {
  const name = componentNameOf(asItRuns(source));
  const component = name === undefined ? undefined : await ports.store.find(componentKind, source.metadata.namespace, name);
  const build = component?.status.build;
  if (component === undefined || build === undefined) throw new NotFound(`the component of source ${publicIdOf(source)} was deleted`);
  return { component, build };
}

function codeOf({ spec: { code, entry = defaultEntry, files = {} } }: ComponentResource): Pick<RunInputs, "entry" | "files"> {
  return { entry, files: { ...files, [entry]: code } };
}

/** Props whose values the API never returns: secret ones, and accounts with their credentials. */
function missingProps(definition: ComponentDefinition, { props, secrets }: SourceResource["spec"]): RunInputs["missing_props"] {
  return definition.props
    .filter(({ name, type, secret }) => {
      if (type === "app") return accountIdOf(props[name]) !== undefined;
      return secret === true && (Object.hasOwn(secrets, name) || Object.hasOwn(props, name));
    })
    .map(({ name, type, app }) => ({ name, type, ...(app === undefined ? {} : { app }) }));
}

async function bundleOf({ bundle: hash, needsNode }: Build, { ports: { bundles } }: ApiContext): Promise<RunInputs["bundle"]> {
  const code = await bundles.get(hash);
  // An interrupted build may have left none.
  const map = await bundles.get(`${hash}.map`).catch((error: unknown) => {
    if (error instanceof NotFound) return undefined;
    throw error;
  });
  const bytes = code.length + (map?.length ?? 0);
  if (code.length > maxBundleBytes)
    throw new LimitExceeded(`the bundle has ${code.length} bytes: the limit for debugging is ${maxBundleBytes}`);
  const text = (part: Uint8Array): string => new TextDecoder().decode(part);
  return { hash, code: text(code), source_map: map === undefined || bytes > maxBundleBytes ? null : text(map), needs_node: needsNode };
}

/** That of a failed run, or the emitted event that started it, or the tick of a timer. */
async function eventOf(
  source: string,
  run: FoundRun,
  ran: Parameters<typeof defaultEvent>[0],
  user: User,
  context: ApiContext,
): Promise<Pick<RunInputs, "event" | "metadata">> {
  const caused = run.cause === undefined ? {} : await causeOf(source, run, user, context);
  if (run.received !== undefined) return { ...caused, event: parseJsonOrNull(run.received) };
  if (run.trigger === "timer") return { event: defaultEvent(ran, run.startedAt) };
  if (run.trigger === "hook") return { event: null };
  return caused;
}

/** Of an emitter that the caller may see: a runner, which executes user code, wrote which event it was. */
async function causeOf(
  source: string,
  run: FoundRun,
  user: User,
  { access, ports: { traceRecords, history } }: ApiContext,
): Promise<Pick<RunInputs, "event" | "metadata">> {
  const [ancestor] = await traceRecords.ancestors({ emitter: source, run: run.id }, 1);
  const { emitter, id } = ancestor?.event ?? {};
  if (emitter === undefined || typeof id !== "string") return {};
  if (!(await maySeeEmitter(access, emitter, user))) return {};
  const found = await history.findEvent(emitter, id);
  return found === undefined ? {} : { event: parseJsonOrNull(found.payload), metadata: eventMetadata(found, emitter) };
}

/** Runners wrote the texts, from values that the sandbox checked. */
const parsedDb = (db: Readonly<Record<string, Readonly<Record<string, string>>>>): NonNullable<RunInputs["db"]> =>
  Object.fromEntries(
    Object.entries(db).map(([prop, keys]) => [
      prop,
      Object.fromEntries(Object.entries(keys).map(([key, text]) => [key, parseJsonOrNull(text)])),
    ]),
  );
