import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createBuilder, type Builder } from "../../../builder/builder.ts";
import { installPackages } from "../../../builder/npm/install-packages.ts";
import type { ConfigureCall } from "../../../domain/component/configure.ts";
import type { ComponentDefinition, PropDefinition } from "../../../domain/component/definition.ts";
import { pinLine } from "../../../domain/component/npm-origin.ts";
import { checkConfiguredProps, runtimeProps } from "../../../domain/component/prop-values.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { parseConfigured } from "../../../runner/run/configure.ts";
import { localProcesses } from "../../../runner/sandbox/processes/local.ts";
import type { Bundle, Execution, Sandbox } from "../../../runner/sandbox/port.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { linkPackages, sharedPackages } from "../../support/kept-packages.ts";
import { actionOf, stepRequest } from "../actions/action-support.ts";
import { emitted, ended, requestFor, startSandbox, type SandboxFixture, type SandboxRequest } from "../sandbox-fixture.ts";
import {
  differences,
  memberOf,
  packageOf,
  type ActionCase,
  type Case,
  type ConfigureCase,
  type Service,
  type SourceCall,
  type TriggerCase,
} from "./contract.ts";
import { startDouble, type Double } from "./double.ts";
import { endpoint } from "./endpoint.ts";

export interface Runs {
  /** @returns where the run of a case differs from what the case says */
  run(service: Service, each: Case): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** What a component is built of: its bundle, and its definition. */
interface Built {
  readonly bundle: Bundle;
  readonly definition: ComponentDefinition;
}

/** Before the name of the member in the bundle of a package: a package is bundled once, and its members are that text with another name. */
const mark = "headwater-member:";

/**
 * A sandbox whose connections lead to the double, and a builder that uses the registry of npm's configuration. Isolates trust the authority of
 * the double as they would trust one of the installation: by a variable of their process.
 */
export async function startRuns(): Promise<Runs> {
  const double = await startDouble();
  const directory = await temporaryDirectory("connector-runs");
  const authority = join(directory.path, "authority.pem");
  await writeFile(authority, double.certificate);
  const fixture = await startSandbox({
    egress: double.egress,
    dial: double.dial,
    // A jail keeps variables from the process.
    jail: "off",
    processes: {
      ...localProcesses,
      start: (start) => localProcesses.start({ ...start, command: ["/usr/bin/env", `NODE_EXTRA_CA_CERTS=${authority}`, ...start.command] }),
    },
  });
  const builder = await openBuilder(fixture);
  const built = new Map<string, Promise<Built>>();
  const packages = new Map<string, Promise<string>>();
  const textOf = (service: Service): Promise<string> => {
    const known = packages.get(service.piece) ?? buildPackage(builder, fixture, service);
    packages.set(service.piece, known);
    return known;
  };
  return {
    run: async (service, each) => {
      const key = `${service.piece}#${memberOf(each)}`;
      const component = built.get(key) ?? textOf(service).then((text) => buildMember(fixture, text, each));
      built.set(key, component);
      const run = { ...(await component), sandbox: fixture.sandbox, double, service, source: key };
      if ("configures" in each) return configure(run, each);
      return "action" in each ? runAction(run, each) : runTrigger(run, each);
    },
    stop: async () => {
      await builder.stop();
      await fixture.stop();
      await double.stop();
      await directory.remove();
    },
  };
}

async function openBuilder({ directory: shared, sandbox }: SandboxFixture): Promise<Builder> {
  const directory = join(shared, "builder");
  await mkdir(directory);
  await chmod(directory, 0o755);
  await linkPackages(directory);
  return createBuilder({
    directory,
    inspector: sandbox,
    bundles: { keep: async () => true, store: async () => {} },
    performInstall: installPackages,
    limits: sharedPackages,
  });
}

/** @returns the text of a bundle with the package, and whether it needs the Node layer */
async function buildPackage(builder: Builder, { directory }: SandboxFixture, service: Service): Promise<string> {
  const { name, version } = packageOf(service);
  const { integrity } = await builder.listPackage(name, version);
  const [first] = service.cases;
  if (first === undefined) throw new Error(`${name} has no case`);
  const code = [
    pinLine({ name, version, integrity }),
    `import { pieceAction, pieceTrigger } from "headwater/pieces";`,
    `import * as piece from ${JSON.stringify(`npm:${name}@${version}`)};`,
    `const [kind, member] = ${JSON.stringify(`${mark}${memberOf(first)}`)}.slice(${mark.length}).split("/");`,
    `export default (kind === "action" ? pieceAction : pieceTrigger)(piece, ${JSON.stringify({ name, version })}, member);`,
  ].join("\n");
  const { bundle } = await builder.build({ code });
  return readFile(join(directory, "builder", "bundles", `${bundle}.js`), "utf8");
}

async function buildMember({ directory, sandbox }: SandboxFixture, packageText: string, each: Case): Promise<Built> {
  const text = packageText.replaceAll(new RegExp(`${mark}[\\w./-]+`, "g"), `${mark}${memberOf(each)}`);
  const hash = createHash("sha256").update(text).digest("hex");
  const path = join(directory, `${hash}.js`);
  await writeFile(path, text);
  const bundle = { hash, path, needsNode: true };
  const inspected = await sandbox.inspect({ bundle, timeoutMs: 100_000 });
  if (inspected.outcome === "rejected") throw new Error(`${memberOf(each)}: ${inspected.message}`);
  return { bundle, definition: inspected.definition };
}

interface Run extends Built {
  readonly sandbox: Sandbox;
  readonly double: Double;
  readonly service: Service;
  readonly source: string;
}

/** Values as the API takes and a run gets them, with the account. */
function propsOf({ definition, service }: Run, { props = {} }: Case): string {
  const { name: app } = definition.props.find(({ type }) => type === "app") ?? { name: undefined };
  const account = app === undefined || service.auth === undefined ? {} : { [app]: { authProvisionId: "apn_1" } };
  const { values } = checkConfiguredProps(definition, { ...account, ...props });
  const runtime = runtimeProps(definition, values);
  return JSON.stringify(app === undefined || service.auth === undefined ? runtime : { ...runtime, [app]: { $auth: service.auth } });
}

/** Values are those chosen so far. */
async function configure(run: Run, each: ConfigureCase): Promise<readonly string[]> {
  const { definition, bundle, sandbox, service } = run;
  const app = definition.props.find(({ type }) => type === "app")?.name;
  const account = app === undefined || service.auth === undefined ? {} : { [app]: { $auth: service.auth } };
  const call: ConfigureCall = each.options === undefined ? { kind: "props" } : { kind: "options", prop: each.options, page: 0 };
  const request: SandboxRequest = {
    entry: "configure",
    event: JSON.stringify(call),
    source: `${run.source}?${each.options ?? ""}`,
    props: JSON.stringify({ ...runtimeProps(definition, each.props ?? {}), ...account }),
    limits: { memoryMb: 256 },
  };
  let found: readonly string[] = [];
  const problems = await run.double.expecting(service.family, each.exchanges ?? [], async () => {
    const configured = parseConfigured(call, await sandbox.execute(requestFor(bundle, request)));
    if (configured.outcome === "failed") found = failed(configured.error, each.throws);
    else
      found = differences(
        each.gives,
        configured.outcome === "options" ? configured.options : additional(definition, configured.props),
        "gives",
      );
  });
  return [...problems, ...found];
}

const failed = ({ message, stack }: RunError, throws: unknown): readonly string[] =>
  throws === undefined ? [`failed: ${message}\n${stack ?? ""}`] : differences(throws, message, "throws");

/** Names and types of the props that the component itself does not have. */
function additional({ props: own }: ComponentDefinition, props: readonly PropDefinition[]): readonly (readonly [string, string])[] {
  const names = new Set(own.map(({ name }) => name));
  return props.filter(({ name }) => !names.has(name)).map(({ name, type }) => [name, type]);
}

async function runAction(run: Run, each: ActionCase): Promise<readonly string[]> {
  const { bundle, source, sandbox } = run;
  const context = each.resumedBy === undefined ? {} : { run: { callback_request: each.resumedBy, context: { hasWaited: true } } };
  const step = stepRequest({ context });
  const request = { ...step, source, memoryMb: 256, props: propsOf(run, each), limits: { memoryMb: 256, ...limitsOf(each) } };
  let found: readonly string[] = [];
  const problems = await run.double.expecting(run.service.family, each.exchanges ?? [], async () => {
    const execution = await sandbox.execute(requestFor(bundle, request));
    found = [
      ...outcomeOf(execution, each.throws, "returns" in each ? { returns: each.returns } : {}),
      ...("flow" in each ? differences(each.flow, actionOf(execution).flow, "flow") : []),
      ...("responds" in each ? differences(each.responds, ended(execution).response, "responds") : []),
    ];
  });
  return [...problems, ...found];
}

const limitsOf = ({ timeoutMs }: Case): { readonly timeoutMs?: number } => (timeoutMs === undefined ? {} : { timeoutMs });

/** Where the end of a run is another one. */
function outcomeOf(execution: Execution, throws: unknown, value: { readonly returns?: unknown }): readonly string[] {
  if (execution.outcome === "crashed") return [`crashed: ${execution.message}`];
  if (execution.outcome !== "returned") return failed(execution.error, throws);
  if (throws !== undefined) return [`returned ${execution.result} instead of failing`];
  if (!("returns" in value)) return [];
  return differences(value.returns, execution.result === null ? undefined : (JSON.parse(execution.result) as unknown), "returns");
}

async function runTrigger(run: Run, each: TriggerCase): Promise<readonly string[]> {
  const { props: defined } = run.definition;
  const store = defined.find(({ type }) => type === "$.service.db")?.name ?? "db";
  const state: Record<string, string> = {};
  const problems: string[] = [];
  for (const [at, call] of each.calls.entries()) {
    const found = await callSource(run, each, { call, state, store });
    problems.push(...found.map((problem) => `call ${at + 1}, ${call.call}: ${problem}`));
  }
  return problems;
}

interface Called {
  readonly call: SourceCall;
  /** What the calls before it have stored. */
  readonly state: Record<string, string>;
  readonly store: string;
}

async function callSource(run: Run, each: TriggerCase, { call, state, store }: Called): Promise<readonly string[]> {
  const request: SandboxRequest = {
    ...entryOf(call),
    source: run.source,
    endpoint,
    props: propsOf(run, each),
    db: { [store]: state },
    limits: { memoryMb: 256, ...limitsOf(each) },
  };
  let found: readonly string[] = [];
  const responses: unknown[] = [];
  const problems = await run.double.expecting(run.service.family, call.exchanges ?? [], async () => {
    const execution = await run.sandbox.execute(requestFor(run.bundle, request), (response) => void responses.push(response));
    found = [
      ...outcomeOf(execution, call.throws, {}),
      ...differences(call.emits ?? [], emitted(execution), "emits"),
      ...("responds" in call ? differences(call.responds, responses[0], "responds") : []),
    ];
    for (const [key, value] of Object.entries(ended(execution).db[store] ?? {})) {
      if (value === null) delete state[key];
      else state[key] = value;
    }
  });
  return [...problems, ...found];
}

function entryOf(call: SourceCall): SandboxRequest {
  switch (call.call) {
    case "activate":
    case "deactivate":
      return { entry: call.call };
    case "run":
      return {};
    case "poll":
    case "renew":
      return { event: JSON.stringify({ timestamp: Math.floor(Date.now() / 1000), interval_seconds: 300 }) };
    case "deliver": {
      const { method = "POST", headers = {}, query = {}, body } = call.deliver;
      const bodyRaw = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
      const type = body === undefined || typeof body === "string" ? {} : { "content-type": "application/json" };
      const request = { method, path: "/", url: endpoint, query, headers: { ...type, ...headers }, client_ip: "192.0.2.1", bodyRaw };
      return { event: JSON.stringify(request) };
    }
  }
}
