import { z } from "zod";
import { codeLimits } from "../domain/component/component-code.ts";
import type { Build } from "../domain/component/definition.ts";
import { baseStatus, columnsOf, defineKind, type Resource } from "./resource.ts";
import { componentAddress, maxBytes, structural, valuesByName, withRules } from "./rules.ts";

const maxCodeBytes = codeLimits.bytes;

/** The text of a component's module. */
export const moduleText = withRules(
  z.string().min(1).max(maxCodeBytes),
  maxBytes(maxCodeBytes, `code has at most 1 MiB (${maxCodeBytes} bytes of UTF-8)`),
);

/** The modules that the code imports by relative paths. The API server only counts them; the builder checks paths and total size. */
export const moduleFiles = valuesByName(z.string().max(maxCodeBytes), codeLimits.files).describe(
  "Other files by path: modules that the code imports by relative paths, and package.json files with versions. Paths are relative to one root, without `.` and `..`. At most 200 files, and 1 MiB including the code.",
);

export const entryPath = z
  .string()
  .min(1)
  .max(255)
  .describe(
    "Path of the code among `files`, such as `sources/new-item.mjs`: relative imports start from its folder. Default: `component.js`.",
  );

const spec = z.object({
  code: moduleText.describe(
    "The module's source text, JavaScript or TypeScript, at most 1 MiB. Above 200 KiB, use `kubectl apply --server-side`.",
  ),
  entry: entryPath.optional(),
  files: moduleFiles.optional(),
  url: componentAddress.optional().describe("Origin of the code, for information only."),
  key: z.string().max(255).optional().describe("`key` of the component's definition, if it has one. Set by the creator; used by lists."),
});
export type ComponentSpec = z.infer<typeof spec>;

/** The builder's result, as `Build`. The definition is as open as the component format. */
const buildForm = {
  type: "object",
  "x-kubernetes-preserve-unknown-fields": true,
  properties: {
    codeHash: { type: "string", description: "SHA-256 of the code, lower-case hex." },
    bundle: { type: "string", description: "Name of the bundle in the object store: SHA-256 of its text, lower-case hex." },
    bundleBytes: { type: "integer", format: "int64", description: "Size of the bundle in bytes." },
    needsNode: { type: "boolean", description: "The bundle uses a Node module, Buffer or process." },
    definition: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      description: "The component's definition: name, key, version, description, props, dedupe, hooks.",
      properties: {
        name: { type: "string", description: "Name of the component." },
        key: { type: "string", description: "Key that all versions of the component share." },
        version: { type: "string", description: "Version in the definition." },
        description: { type: "string", description: "Description in the definition." },
      },
    },
    lockfile: { type: "string", nullable: true, description: "npm lockfile of the imported packages; null if there are none." },
    warnings: {
      type: "array",
      description: "Probable mistakes that do not prevent a build; absent if there are none.",
      items: {
        type: "object",
        properties: {
          code: { type: "string", description: "Stable identifier, for programs." },
          message: { type: "string", description: "What was found, and how to fix it." },
          path: { type: "string", description: "Path in the definition." },
        },
      },
    },
  },
};

const status = baseStatus.extend({
  build: structural(z.custom<Build>(), buildForm).optional().describe("The builder's result; absent until the component is built."),
  updatedAt: z.int().optional().describe("When it was last built, epoch milliseconds."),
});
export type ComponentStatus = z.infer<typeof status>;
export type ComponentResource = Resource<ComponentSpec, ComponentStatus>;

export const componentKind = defineKind<ComponentSpec, ComponentStatus>({
  kind: "Component",
  plural: "components",
  shortNames: ["hwcomp"],
  description: "Code in the component format (docs/components.md), built once and run by the Sources that refer to it.",
  columns: columnsOf(
    { name: "Component", type: "string", path: ".status.build.definition.name", description: "Name in the definition." },
    { name: "Version", type: "string", path: ".status.build.definition.version", description: "Version in the definition." },
    { name: "Key", type: "string", path: ".status.build.definition.key", description: "Key in the definition.", wide: true },
    { name: "Bytes", type: "integer", path: ".status.build.bundleBytes", description: "Size of the bundle.", wide: true },
  ),
  selectable: [".spec.key", ".status.id"],
  spec,
  status,
});
