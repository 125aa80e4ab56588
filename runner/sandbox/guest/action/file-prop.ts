import { isObject } from "../component/component.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import { inspect } from "../node/inspect/inspect.ts";
import { fileMisfit, namesUrl } from "./file-value.ts";
import type { OpenFiles, RunFile } from "./files.ts";
import type * as urlFiles from "./url-file.ts";

// Evaluated with the first URL.
declare function require(path: "./url-file.ts"): typeof urlFiles;

const maxShown = 100;

/**
 * `this.<prop>` of a prop of type `file`.
 *
 * @param given a path below /tmp, the path or the JSON of a file of `$.files`, or a URL @param files undefined: there is no run of a workflow
 */
export function openFileProp(prop: string, given: unknown, files: (() => OpenFiles) | undefined): RunFile {
  const which = `prop '${prop.slice(0, maxShown)}'`;
  const misfit = fileMisfit(given);
  if (misfit !== undefined) throw ruleTypeError("invalid_file", `${which} is ${inspect(given).slice(0, maxShown)}: it must be ${misfit}`);
  const text = String(isObject(given) ? given["path"] : given);
  if (namesUrl(given)) return require("./url-file.ts").urlFile(text);
  if (files !== undefined) return files().file(text);
  throw ruleError(
    "files_unavailable",
    `${which} is the path '${text.slice(0, maxShown)}': only steps of workflows have files of a run, so it must be an http or https URL`,
  );
}
