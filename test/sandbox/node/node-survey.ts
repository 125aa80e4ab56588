import { spawnSync } from "node:child_process";
import { builtinModules, createRequire } from "node:module";
import { errorOf, requestFor, type SandboxFixture } from "../sandbox-fixture.ts";

/** What a built-in module of Node exports, and which methods the classes among that have. */
type Exports = Readonly<Record<string, readonly string[]>>;

/** How a module of the sandbox differs from Node's. Members are `name`, methods `Name#method`. */
export interface ModuleSurvey {
  readonly name: string;
  readonly members: number;
  readonly missing: readonly string[];
  /** Members that only throw, with the word on what to use instead. */
  readonly refused: Readonly<Record<string, string>>;
}

const require = createRequire(import.meta.url);
// Those with an underscore are Node's own business, though some can be required.
const names = [...new Set([...builtinModules.map((name) => name.replace(/^node:/, "")), "test/reporters"])]
  .filter((name) => !name.startsWith("_"))
  .sort();
const ofFunctions = new Set(["length", "name", "prototype", "arguments", "caller", "default", "module.exports"]);

function exportsOf(module: unknown): Exports {
  if ((typeof module !== "object" && typeof module !== "function") || module === null) return {};
  const members = Object.getOwnPropertyNames(module).filter((name) => !name.startsWith("_") && !ofFunctions.has(name));
  return Object.fromEntries(members.map((name) => [name, methodsOf(Object.getOwnPropertyDescriptor(module, name)?.value)]));
}

function methodsOf(value: unknown): string[] {
  if (typeof value !== "function" || typeof value.prototype !== "object" || value.prototype === null) return [];
  const all = Object.entries(Object.getOwnPropertyDescriptors(value.prototype));
  // What is read from an object may be its own; only what is called has to be here.
  return all
    .filter(([name, { value: method }]) => typeof method === "function" && name !== "constructor" && !name.startsWith("_"))
    .map(([name]) => name);
}

/** Compares all modules, in one isolate. */
export async function surveyModules(fixture: SandboxFixture): Promise<readonly ModuleSurvey[]> {
  const nodes = Object.fromEntries(names.map((name) => [name, exportsOf(require(`node:${name}`))]));
  const code = `const require = (name) => globalThis.__builtin(name);
    const refusal = Symbol.for("headwater.refusal");
    const of = (holder, name) => { try { return holder[name]; } catch { return undefined; } };
    export default { name: "survey", run(modules) { return Object.entries(modules).map(([name, members]) => {
      const module = require(name), missing = [], refused = {};
      for (const [member, methods] of Object.entries(members)) {
        if (!(member in module)) { missing.push(member); continue; }
        const value = of(module, member);
        if (value?.[refusal] !== undefined) { refused[member] = value[refusal]; continue; }
        for (const method of methods) if (!(method in (value?.prototype ?? {}))) missing.push(member + "#" + method);
      }
      return { name, members: Object.keys(members).length, missing, refused };
    }); } };`;
  const execution = await fixture.sandbox.execute(requestFor(await fixture.bundle(code), { event: JSON.stringify(nodes) }));
  if (execution.outcome !== "returned" || execution.result === null) throw new Error(JSON.stringify(errorOf(execution)));
  return JSON.parse(execution.result) as ModuleSurvey[]; // as the component above returns it
}

/** Globals that Node has and an isolate has not. */
export async function surveyGlobals(fixture: SandboxFixture): Promise<readonly string[]> {
  // A process of its own: that of the tests has more than Node's.
  const { stdout } = spawnSync(process.execPath, ["-p", "JSON.stringify(Object.getOwnPropertyNames(globalThis))"], { encoding: "utf8" });
  // Its command line offers modules by name, as the prompt does.
  const offered = new Set([...builtinModules, "__filename", "__dirname", "module", "exports", "require"]);
  const globals = (JSON.parse(stdout) as string[]).filter((name) => !offered.has(name)); // the survey prints a JSON array
  const code = `export default { name: "survey", run(names) { process; return names.filter((name) => !(name in globalThis)); } };`;
  const execution = await fixture.run(code, { event: JSON.stringify(globals) });
  if (execution.outcome !== "returned" || execution.result === null) throw new Error(JSON.stringify(errorOf(execution)));
  return JSON.parse(execution.result) as string[]; // as the component above returns it
}
