import {
  build,
  type BuildFailure,
  type Loader,
  type Message,
  type Metafile,
  type OnResolveArgs,
  type OnResolveResult,
  type Plugin,
} from "esbuild";
import { receivedCode } from "../../domain/error-codes.ts";
import { isRelative } from "../../domain/component/module-path.ts";
import { modulePathOf, moduleNamespace, placeOf, plainText, type Place } from "./code-frame.ts";
import { refuse, refuseAt } from "../errors.ts";
import { isNowhere, loadModule, loaderOf, type Modules } from "./modules.ts";
import type { BuildRequest } from "../ports.ts";
import { importRelative } from "./relative-imports.ts";
import { specifierIn, type Specifier } from "./specifier.ts";
import { cannotBeStrict, isTopLevelAwait } from "./strictness.ts";

export interface Import {
  /** As written. */
  readonly text: string;
  readonly specifier: Exclude<Specifier, { kind: "refused" }>;
  readonly place: Place;
}

export interface Scan {
  /** How the entry is read. */
  readonly language: Loader;
  /** All that leads out of the component: packages and built-ins. */
  readonly imports: readonly Import[];
  /** Paths of those that are ES modules, by what is in them. */
  readonly esModules: ReadonlySet<string>;
}

type Language = NonNullable<BuildRequest["language"]>;

/**
 * Reads which packages and built-ins the entry imports, itself or through the component's other modules, without loading any.
 * @throws InvalidInput `syntax_error` with file, line, column and a frame; `import_not_found`, `import_refused`.
 */
export async function scan(modules: Modules, language: Language): Promise<Scan> {
  const { loader, parsed } = await parseAs(modules, language, follow(modules));
  refuseErrors(modules, parsed);
  const inputs = Object.entries(parsed.metafile?.inputs ?? {}).filter(([, { format }]) => format === "esm");
  return {
    language: loader,
    imports: parsed.warnings.filter(isImport).map((message) => readImport(modules, message)),
    esModules: new Set(inputs.map(([name]) => modulePathOf(name) ?? name)),
  };
}

/** What the text of one module imports, relative or not, with the place of each. @throws InvalidInput `syntax_error` */
export async function listImports(path: string, text: string): Promise<readonly { readonly text: string; readonly place: Place }[]> {
  const modules = { entry: path, texts: new Map([[path, text]]) };
  const { parsed } = await parseAs(modules, "auto", leave);
  refuseErrors(modules, parsed);
  return parsed.warnings.filter(isImport).map((message) => ({ text: String(message.detail), place: placeIn(modules, message) }));
}

interface Parse {
  readonly errors: readonly Message[];
  /** One for each import that leads out, by the plugin. */
  readonly warnings: readonly Message[];
  readonly metafile?: Metafile | undefined;
}

type Resolve = (args: OnResolveArgs) => OnResolveResult;

/** A name like `.ts` says the language. Else it is JavaScript; where that cannot be read, the language whose parser comes further is meant. */
async function parseAs(modules: Modules, language: Language, resolve: Resolve): Promise<{ loader: Loader; parsed: Parse }> {
  const named = loaderOf(modules.entry);
  const isNamed = named === "ts" || named === "tsx" || named === "jsx";
  if (language !== "auto" || isNamed) {
    const loader = language === "auto" ? named : language;
    return { loader, parsed: await parse(modules, loader, resolve) };
  }
  const asJs = await parse(modules, "js", resolve);
  const wrong = asJs.errors.find((message) => isSyntaxErrorOf(modules.entry, message));
  if (wrong === undefined) return { loader: "js", parsed: asJs };
  const asTs = await parse(modules, "ts", resolve);
  const wrongTs = asTs.errors.find((message) => isSyntaxErrorOf(modules.entry, message));
  return wrongTs === undefined || isLater(wrongTs, wrong) ? { loader: "ts", parsed: asTs } : { loader: "js", parsed: asJs };
}

/** A module that cannot be strict is read as CommonJS: as a part of an ES module esbuild would refuse it. */
async function parse(modules: Modules, loader: Loader, resolve: Resolve): Promise<Parse> {
  const parsed = await parseIn("esm", modules, loader, resolve);
  if (parsed.errors.length === 0 || !parsed.errors.every(cannotBeStrict)) return parsed;
  const sloppy = await parseIn("cjs", modules, loader, resolve);
  return sloppy.errors.some(isTopLevelAwait) ? parsed : sloppy;
}

async function parseIn(format: "esm" | "cjs", modules: Modules, loader: Loader, resolve: Resolve): Promise<Parse> {
  try {
    return await build({
      entryPoints: [modules.entry],
      bundle: true,
      write: false,
      metafile: true,
      outfile: "scanned.js",
      format,
      logLevel: "silent",
      logLimit: 0,
      plugins: [reading(modules, loader, resolve)],
      tsconfigRaw: {},
    });
  } catch (error) {
    // esbuild rejects with the messages; anything else is its own failure and goes up as it is.
    if (error instanceof Error && "errors" in error) return error as BuildFailure;
    throw error;
  }
}

const pluginName = "scan";
const computedPath =
  "the path of an import is computed: modules are looked for when the component is built, so each has to be named by a text of its own";

function reading(modules: Modules, loader: Loader, resolve: Resolve): Plugin {
  return {
    name: pluginName,
    setup(esbuild) {
      esbuild.onResolve({ filter: /.*/ }, (args) =>
        args.kind === "entry-point" ? { path: modules.entry, namespace: moduleNamespace } : resolve(args),
      );
      esbuild.onLoad({ filter: /.*/, namespace: moduleNamespace }, ({ path }) =>
        loadModule(modules, path, path === modules.entry ? loader : loaderOf(path)),
      );
      // Nothing is resolved to a file; imports whose path is computed find some all the same.
      esbuild.onLoad({ filter: /.*/ }, () => ({ errors: [{ text: computedPath, detail: "import_refused" }] }));
    },
  };
}

const follow =
  (modules: Modules): Resolve =>
  (args) =>
    isRelative(args.path) ? importRelative(modules, args) : leave(args);

/** Plugin results carry the place of their import only in messages, so each import that leads out is reported as a warning. */
const leave: Resolve = ({ path }) => ({ external: true, path, warnings: [{ text: "import", detail: path }] });

const isImport = (message: Message): boolean => message.pluginName === pluginName && message.text === "import";

function isSyntaxErrorOf(entry: string, { pluginName: plugin, location }: Message): boolean {
  return plugin === "" && (location === null || modulePathOf(location.file) === entry);
}

function isLater(a: Message, b: Message): boolean {
  if (!a.location || !b.location) return false;
  return a.location.line - b.location.line > 0 || (a.location.line === b.location.line && a.location.column > b.location.column);
}

function readImport(modules: Modules, message: Message): Import {
  const text = String(message.detail);
  const place = placeIn(modules, message);
  const specifier = specifierIn(modules, place.file, text);
  if (specifier.kind === "refused")
    throw refuseAt("import_refused", `import "${clip(text)}" is refused: ${specifier.reason}`, modules, place);
  return { text, specifier, place };
}

/** A computed path that fits no file is a warning, one whose folder is missing an error: both are reported the same way. */
function refuseErrors(modules: Modules, { errors, warnings }: Parse): void {
  const [error] = [...errors, ...warnings.filter(isComputedPath)];
  if (error) throw explain(modules, error);
}

const computed = /^(?:Could not resolve|The glob pattern) (?:import|require)\("([^"]*\*[^"]*)/;
const computedIn = ({ text }: Message): string | undefined => computed.exec(text)?.[1];
const isComputedPath = (message: Message): boolean => computedIn(message) !== undefined;

const placeIn = ({ entry }: Modules, { location }: Message): Place => (location ? placeOf(location) : { file: entry, line: 1, column: 1 });

/** An error of the user's code as the caller sees it. */
function explain(modules: Modules, message: Message): Error {
  // The place of a file that was found is none of the user's.
  if (message.text === computedPath) return refuse("import_refused", computedPath);
  if (isComputedPath(message))
    return message.location && isNowhere(computedIn(message))
      ? refuseAt("import_refused", computedPath, modules, placeOf(message.location))
      : refuse("import_refused", computedPath);
  const ours = message.pluginName === pluginName && typeof message.detail === "string" ? receivedCode(message.detail) : undefined;
  const code = ours ?? (message.text.startsWith("No matching export") ? "export_not_found" : "syntax_error");
  const text = plainText(message.text);
  return message.location ? refuseAt(code, text, modules, placeOf(message.location)) : refuse(code, text);
}

const clip = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
