import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Texts that the npm package of the command line has with it: types for authors of components, their format, and pages. */
export function packagedDocuments(root: string): string {
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const documents = {
    componentTypes: componentTypes(read),
    componentSchema: read("types/component.schema.json"),
    componentsPage: read("docs/components.md"),
    workflowsPage: read("docs/workflows.md"),
  };
  const constants = Object.entries(documents).map(([name, text]) => `export const ${name} =\n  ${JSON.stringify(text)};\n`);
  return `// Written by \`npm run generate\` from types/ and docs/. Changes go there.\n${constants.join("")}`;
}

/** The files of types/ as one declaration file: without imports of each other, and without the bodies of functions. */
function componentTypes(read: (path: string) => string): string {
  const files = ["events", "interfaces", "props", "action", "component"].map((name) => read(`types/${name}.ts`));
  const head = "/** Types for authors of components, written by `hw init`. */\n";
  return (
    head +
    files
      .map((text) =>
        text
          .replaceAll(/^import type [^;]*;\n/gm, "")
          .replaceAll(/^ *\/\/ oxlint-disable.*\n/gm, "")
          .replaceAll(/^export function ([\s\S]*?) \{\n {2}return .*\n\}\n/gm, "export declare function $1;\n")
          .trim(),
      )
      .join("\n\n")
  );
}
