import type { Definition } from "../command.ts";
import { Failure, usageFailure } from "../failure.ts";
import { toYaml } from "../output/yaml.ts";
import { readManifests, type Spec } from "../resources/manifest.ts";
import { inOrder, planStep } from "../resources/plan.ts";
import { lineDifference } from "../resources/difference.ts";
import { Session } from "../resources/session.ts";
import { filesOption, readOperations } from "./apply.ts";

export const command: Definition = {
  description: "Shows what `hw apply` would change, as lines of YAML. It ends with exit code 1 if there are differences, like diff.",
  options: [filesOption],
  examples: [{ command: "hw diff -f resources.yaml", does: "Show differences before you apply them." }],
  operations: readOperations,
  run: async ({ client, out, terminal }, given) => {
    const files = given.list("file");
    if (files.length === 0) throw usageFailure("the file is missing", "add -f FILE, or -f - for standard input");
    const manifests = await readManifests(files);
    const session = new Session(client, manifests);
    let changes = 0;
    for (const { kind, manifest } of inOrder(manifests.resources)) {
      const step = await planStep(session, kind, manifest, false);
      if (step.action === "create") session.remember(kind.name, manifest.name, `${kind.listed.prefix ?? ""}_new`);
      if (step.action === "unchanged") continue;
      changes++;
      const lines = lineDifference(await yamlOf(step.current), await yamlOf(step.wanted));
      const name = `${kind.name.toLowerCase()}/${manifest.name}`;
      await out.record({ resource: name, action: step.action, current: step.current ?? null, wanted: step.wanted ?? null }, () => [
        terminal.style("bold", `${name}: ${step.action}`),
        ...lines.map((line) =>
          line.startsWith("-") ? terminal.style("red", line) : line.startsWith("+") ? terminal.style("green", line) : line,
        ),
      ]);
    }
    if (changes > 0)
      throw new Failure(`${changes} ${changes === 1 ? "resource differs" : "resources differ"}`, {
        hint: "`hw apply` with the same files changes them",
      });
  },
};

const yamlOf = (spec: Spec | undefined): Promise<string> => (spec === undefined ? Promise.resolve("") : toYaml(sorted(spec)));

/** Equal fields at equal places. */
const sorted = (spec: Spec): Spec => Object.fromEntries(Object.entries(spec).toSorted(([one], [other]) => one.localeCompare(other)));
