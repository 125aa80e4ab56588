import { receivedCode } from "../domain/error-codes.ts";
import type { ComponentDefinition } from "../domain/component/definition.ts";
import type { Warning } from "../domain/component/warning.ts";
import { createStackMapper, type Origin, type StackMapper } from "./bundle/source-map.ts";
import type { BundleText } from "./bundle/bundle.ts";
import { codeFrame } from "./scan/code-frame.ts";
import { codeWarnings } from "./scan/code-warnings.ts";
import { placeDetails, refuse } from "./errors.ts";
import type { Modules } from "./scan/modules.ts";
import type { Inspection, Inspector } from "./ports.ts";

/** The definition, and warnings about likely mistakes. */
export interface Inspected {
  readonly definition: ComponentDefinition;
  readonly warnings: readonly Warning[];
}

/** The result of inspecting a bundle. */
export type InspectionResult =
  | { readonly outcome: "read"; readonly inspected: Inspected }
  | {
      readonly outcome: "rejected";
      readonly error: Error;
      /** A package's code threw it or could not be compiled. */
      readonly isOfPackage: boolean;
    };

type Rejected = Extract<Inspection, { outcome: "rejected" }>;

/**
 * Reads the definition of a bundle in the sandbox. A rejection is an InvalidInput with the sandbox's code (`no_run`, `unknown_prop_type`,
 * `evaluation_timeout`, …), in terms of the user's modules.
 */
export async function inspect(
  { inspector, owner, timeoutMs }: { readonly inspector: Inspector; readonly owner: string; readonly timeoutMs: number },
  bundled: BundleText,
  path: string,
  modules: Modules,
): Promise<InspectionResult> {
  const { hash, needsNode } = bundled;
  const inspection = await inspector.inspect({ bundle: { hash, path, needsNode }, owner, timeoutMs });
  if (inspection.outcome === "read") {
    const { definition, warnings = [] } = inspection;
    return {
      outcome: "read",
      inspected: {
        definition: withoutAccounts(definition, bundled.text),
        warnings: [...warnings, ...codeWarnings(definition, bundled.text)],
      },
    };
  }
  return explainRejection(inspection, createStackMapper(bundled.map), modules);
}

/** Property names are not minified, so the bundle's text shows whether its code reads credentials. */
function withoutAccounts(definition: ComponentDefinition, bundle: string): ComponentDefinition {
  const hasApp = definition.hasAdditionalProps || definition.props.some(({ type }) => type === "app");
  return hasApp && !bundle.includes("$auth") ? { ...definition, needsNoAccounts: true } : definition;
}

function explainRejection(rejected: Rejected, mapper: StackMapper, modules: Modules): InspectionResult {
  const mapped = rejected.stack === undefined ? "" : mapper.mapStack(rejected.stack);
  const stack = /^[ \t]+at /m.test(mapped) ? mapped : undefined;
  const place = placeOf(rejected, mapper, stack, modules);
  const code = place && modules.texts.get(place.file);
  const frame = place === undefined || code === undefined ? undefined : codeFrame(code, place);
  const error = refuse(receivedCode(rejected.code), rejected.message, {
    ...(place === undefined || code === undefined ? {} : placeDetails(place)),
    ...(rejected.prop === undefined ? {} : { prop: rejected.prop }),
    ...(frame === undefined && stack === undefined ? {} : { text: [frame, stack].filter(Boolean).join("\n\n") }),
  });
  const [thrownIn] = filesIn(stack);
  const isOfPackage = thrownIn === undefined ? rejected.message.startsWith("SyntaxError") : !modules.texts.has(thrownIn.file);
  return { outcome: "rejected", error, isOfPackage: isOfPackage && rejected.code === "evaluation_error" };
}

/** Prefers the stack's line in the user's code: an error thrown deep in a package is fixed where the user called it. */
function placeOf(rejected: Rejected, mapper: StackMapper, stack: string | undefined, { texts }: Modules): Origin | undefined {
  const own = filesIn(stack).find(({ file }) => texts.has(file));
  if (own !== undefined) return own;
  return rejected.line === undefined ? undefined : mapper.find(rejected.line, rejected.column ?? 1);
}

function filesIn(stack: string | undefined): readonly Origin[] {
  const frames = (stack ?? "").matchAll(/^[ \t]+at (?:.* \()?(.+?):(\d+):(\d+)\)?$/gm);
  return Array.from(frames, ([, file = "", line, column]) => ({ file, line: Number(line), column: Number(column) }));
}
