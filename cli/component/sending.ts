import type { OptionDefinition } from "../command.ts";
import type { OfflineContext } from "../context.ts";
import type { Given } from "../given.ts";
import { collectFiles, type ComponentFiles } from "./files.ts";

export const rootOption: OptionDefinition = {
  flags: "--root <folder>",
  description: "send only files below this folder; by default that of the nearest package.json or repository",
};

/** Collects the files of a component that a command sends. */
export type Sending = (entry: string) => Promise<Pick<ComponentFiles, "component_files" | "component_entry">>;

/** Collects files within `--root`, and lists them if there are several: the code may be of other people. */
export const sendingOf =
  ({ out }: Pick<OfflineContext, "out">, given: Given): Sending =>
  async (entry) => {
    const { component_files, component_entry } = await collectFiles(entry, { root: given.text("root") });
    const paths = Object.keys(component_files);
    if (paths.length > 1) out.note(`sending ${paths.join(", ")}`);
    return { component_files, component_entry };
  };
