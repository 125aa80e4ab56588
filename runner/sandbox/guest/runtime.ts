import { bindComponent, type OpenFile, type RunInputs } from "./component/bind.ts";
import { endRun, on, post } from "./runtime/bridge.ts";
import { type Fields, findComponent, isObject } from "./component/component.ts";
import { configureComponent } from "./component/configure.ts";
import { describeComponent } from "./component/describe.ts";
import { emitter } from "./component/emit.ts";
import { bodiesInProgress } from "./component/streamed-body.ts";
import { describeError } from "./runtime/errors.ts";
import { completeEvent } from "./component/http-event.ts";
import { describeOpenWork } from "./runtime/open-work.ts";
import { beginFiles, storeFiles } from "./runtime/run-files.ts";
import { beginRun } from "./runtime/still-running.ts";
import { runTicks } from "./runtime/ticks.ts";
import type * as action from "./action/action.ts";
import type { ActionInputs } from "./action/action-inputs.ts";

// Evaluated with the first run of an action.
declare function require(path: "./action/action.ts"): typeof action;

/** Bundles end with `__register(namespace)`, or when they throw with `__register(null, error)`; the host then asks for runs. One run at a time. */
const maxResult = 64 * 1024;
const lateTurns = 16;
const now = Date.now;
const resolved = Promise.resolve();
const { parse, stringify } = JSON;

let registered = false;
let component: unknown;

Object.defineProperty(globalThis, "__register", {
  configurable: true,
  value: (namespace: unknown, ...thrown: unknown[]) => {
    if (registered) return;
    if (thrown.length > 0) return fail(thrown[0]);
    registered = true;
    component = findComponent(namespace);
    post("registered");
  },
});

/** A global of the known service: code of steps is often written with it. */
Object.defineProperty(globalThis, "defineComponent", { configurable: true, writable: true, value: (given: unknown) => given });

on("environment", (environment) => setEnvironment(environment as Record<string, string>));

on("run", (entry, event, props, db, endpoint, additional, metadata, step, stores, hasStoredFiles) => {
  endRun();
  beginRun();
  beginFiles(hasStoredFiles as boolean | undefined);
  // Every outcome is posted: a rejection cannot escape from here.
  const inputs = {
    props: parse(String(props)) as Fields,
    db: db as Record<string, Record<string, string>>,
    endpoint: endpoint as string | null,
    additional: parse(String(additional)) as Fields[],
    stores: (stores ?? []) as string[],
    openFile: ((prop, value) => require("./action/action.ts").openUrl(prop, value)) satisfies OpenFile,
  };
  if (step !== undefined) return void runAction(inputs, step as ActionInputs, String(props).includes("{{"));
  const given = [String(event), ...(metadata === undefined ? [] : [String(metadata)])];
  void run(String(entry), given, inputs);
});

on("configure", (call, props, endpoint, additional) => {
  endRun();
  beginRun();
  void configure(parse(String(call)) as Fields, {
    props: parse(String(props)) as Fields,
    db: {},
    endpoint: endpoint as string | null,
    additional: parse(String(additional)) as Fields[],
    stores: [],
    // What lists options sees what is configured.
    openFile: (_, value) => value,
  });
});

on("describe", () => post("described", describeComponent(component)));

/** @param given JSON texts of the event, and of its metadata if another source emitted it */
async function run(entry: string, given: readonly string[], inputs: RunInputs): Promise<void> {
  try {
    const definition = loaded();
    const bound = bindComponent(definition, inputs);
    const called = findEntry(definition, entry);
    const result: unknown = called === undefined ? undefined : await Reflect.apply(called, bound, argumentsOf(given));
    const sending = bodiesInProgress();
    if (sending !== undefined) await sending;
    await settle(result, toResult);
  } catch (error) {
    fail(error);
  }
  endRun();
}

/** Runs a step of a workflow. */
async function runAction(inputs: RunInputs, step: ActionInputs, hasExpressions: boolean): Promise<void> {
  try {
    const definition = loaded();
    const called = definition["run"];
    if (typeof called !== "function") throw new TypeError("the action has no function 'run'");
    const { actionResult, prepareAction } = require("./action/action.ts");
    const { props, openFile, argument } = prepareAction(definition, inputs.props, step, hasExpressions);
    const bound = bindComponent(definition, { ...inputs, props, openFile, db: null });
    const result: unknown = await Reflect.apply(called as (argument: unknown) => unknown, bound, [argument]);
    const sending = bodiesInProgress();
    if (sending !== undefined) await sending;
    runTicks(); // They may write files.
    const storing = storeFiles();
    if (storing !== undefined) await storing;
    await settle(result, actionResult);
  } catch (error) {
    fail(error);
  }
  endRun();
}

async function settle(result: unknown, toText: (result: unknown) => string | null): Promise<void> {
  runTicks(); // Ticks queued by the run belong to it.
  post("done", toText(result));
  await warnOfOpenWork();
}

/**
 * Code called without `await` continues as long as it only awaits settled values; only then is known what it still waits for.
 * V8 does not report when the microtask queue is empty, so it gets as many turns as promise chains are long.
 */
async function warnOfOpenWork(): Promise<void> {
  for (let turn = 0; turn < lateTurns; turn++) await resolved;
  const warning = describeOpenWork();
  if (warning !== undefined) post("log", "console.warn", warning, now());
}

async function configure(call: Fields, inputs: RunInputs): Promise<void> {
  try {
    post("configured", await configureComponent(loaded(), call, inputs));
  } catch (error) {
    fail(error);
  }
  endRun();
}

function loaded(): Fields {
  if (isObject(component)) return component;
  throw new TypeError(`the component's default export is ${component === null ? "null" : typeof component}, not an object`);
}

function fail(error: unknown): void {
  const { name, message, stack, code } = describeError(error);
  post("failed", name, message, stack, code);
}

/** A missing hook succeeds at once; a component without `run` emits the events of its interfaces. */
function findEntry(definition: Fields, entry: string): ((event: unknown, metadata?: unknown) => unknown) | undefined {
  const hooks = definition["hooks"];
  const called = entry === "run" ? definition["run"] : isObject(hooks) ? hooks[entry] : undefined;
  if (typeof called === "function") return called as (event: unknown, metadata?: unknown) => unknown;
  if (entry !== "run") return undefined;
  const emit = emitter();
  return (event) => emit(event); // With a new id and without the incoming event's channel.
}

function argumentsOf(given: readonly string[]): readonly unknown[] {
  const [event, ...metadata] = given.map((text) => parse(text) as unknown);
  return [completeEvent(event), ...metadata];
}

/** JSON text of the return value; null if there is none or it is too large to store. */
function toResult(result: unknown): string | null {
  try {
    const text = stringify(result) as string | undefined;
    return text === undefined || text.length > maxResult ? null : text;
  } catch {
    return null;
  }
}

/** `process` exists only with the Node layer; its `env` is set before the bundle is evaluated. */
function setEnvironment(environment: Record<string, string>): void {
  const { process } = globalThis as { process?: { env?: Record<string, string> } };
  const env = process?.env;
  if (!isObject(env)) return;
  for (const name of Object.keys(env)) delete env[name];
  Object.assign(env, environment);
}
