import type { Definition } from "../command.ts";
import { isWorkflowFile } from "../component/files.ts";
import { rootOption, sendingOf } from "../component/sending.ts";
import { explained } from "../component/rejection.ts";
import { fieldLines } from "../output/fields.ts";

export const command: Definition = {
  description:
    "Builds a component without saving or deploying it, and shows mistakes with the lines of code around them, and warnings. " +
    "Of a workflow in YAML it builds the code of each step; `hw deploy` checks the rest.",
  arguments: [{ name: "<file>", description: "file that exports the component, its address, or a workflow in YAML", completes: "file" }],
  options: [rootOption],
  examples: [{ command: "hw validate hello.mjs", does: "Find mistakes in a component." }],
  operations: ["saveComponent"],
  run: async (context, given) => {
    const { client, out, terminal } = context;
    const file = given.required("file");
    if (isWorkflowFile(file)) {
      const { validateWorkflow } = await import("../component/workflow-file.ts");
      return validateWorkflow(context, file, given.text("root"));
    }
    const code = /^(https?:\/\/|npm:)/.test(file) ? { component_url: file } : await sendingOf(context, given)(file);
    const answer = await terminal.progress("Building", () =>
      explained(() => client.call("saveComponent", { query: { dry_run: true }, body: code })),
    );
    const { name, version, files, configurable_props: props } = answer.data;
    const warnings = (answer.warnings ?? []).map(({ path, message }) => `${path}: ${message}`);
    await out.document(answer, () =>
      fieldLines({ name, version, props: props.map((prop) => prop.name).join(", "), files: files.length + 1, warnings }),
    );
  },
};
