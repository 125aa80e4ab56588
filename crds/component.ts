import { z } from "zod";
import { codeLimits } from "../domain/component-code.ts";
import type { Build } from "../domain/definition.ts";
import { baseStatus, columnsOf, defineKind } from "./resource.ts";
import { httpUrl, maxBytes, structural, valuesByName, withRules } from "./rules.ts";

const maxCodeBytes = codeLimits.bytes;

/** The text of a component's module. */
export const moduleText = withRules(
  z.string().min(1).max(maxCodeBytes),
  maxBytes(maxCodeBytes, `code has at most 1 MiB (${maxCodeBytes} bytes of UTF-8)`),
);

/** The modules that the code imports by relative paths. The API server counts them; their paths and their size together are the builder's to judge. */
export const moduleFiles = valuesByName(z.string().max(maxCodeBytes), codeLimits.files).describe(
  "The other modules, by path: what the code imports by relative paths, and package.json files that name versions. Paths are relative to one root, without `.` and `..`; at most 200 files, with the code at most 1 MiB.",
);

export const entryPath = z
  .string()
  .min(1)
  .max(255)
  .describe(
    "Path of the code among `files`, such as `sources/new-item.mjs`: relative imports start from its folder. `component.js` without one.",
  );

const spec = z.object({
  code: moduleText.describe(
    "The module's source text, JavaScript or TypeScript, at most 1 MiB. Of more than 200 KiB, apply with `kubectl apply --server-side`.",
  ),
  entry: entryPath.optional(),
  files: moduleFiles.optional(),
  url: httpUrl.optional().describe("Where the code came from, for people; it is not read."),
  key: z
    .string()
    .max(255)
    .optional()
    .describe("`key` of the component's definition when it has one; for lists, set by whoever creates it."),
});
export type ComponentSpec = z.infer<typeof spec>;

/** What the builder made, in the shape of `Build`. The definition is as free as the component format. */
const buildForm = {
  type: "object",
  "x-kubernetes-preserve-unknown-fields": true,
  properties: {
    codeHash: { type: "string", description: "SHA-256 of the code, lower-case hex." },
    bundle: { type: "string", description: "Name of the bundle in the object store: SHA-256 of its text, lower-case hex." },
    bundleBytes: { type: "integer", format: "int64", description: "Size of the bundle in bytes." },
    needsNode: { type: "boolean", description: "The bundle names a module of Node, Buffer or process." },
    definition: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      description: "What the component says of itself: name, key, version, description, props, dedupe, hooks.",
      properties: {
        name: { type: "string", description: "Name of the component." },
        key: { type: "string", description: "By which its versions are known." },
        version: { type: "string", description: "Version, as the component gives it." },
        description: { type: "string", description: "What it says it does." },
      },
    },
    lockfile: { type: "string", nullable: true, description: "npm lockfile of the packages it imports; null without any." },
    warnings: {
      type: "array",
      description: "What loads and was probably meant otherwise; absent when there is nothing of the kind.",
      items: {
        type: "object",
        properties: {
          code: { type: "string", description: "One word for programs." },
          message: { type: "string", description: "What was found, and what would be right." },
          path: { type: "string", description: "Place in the definition." },
        },
      },
    },
  },
};

const status = baseStatus.extend({
  build: structural(z.custom<Build>(), buildForm).optional().describe("What the builder made of the code; absent until it is built."),
  updatedAt: z.int().optional().describe("When it was last built, epoch milliseconds."),
});
export type ComponentStatus = z.infer<typeof status>;

export const componentKind = defineKind<ComponentSpec, ComponentStatus>({
  kind: "Component",
  plural: "components",
  shortNames: ["hwcomp"],
  description: "Code in the component format (docs/components.md), built once and run by the Sources that refer to it.",
  columns: columnsOf(
    { name: "Component", type: "string", path: ".status.build.definition.name", description: "Name that the code gives itself." },
    { name: "Version", type: "string", path: ".status.build.definition.version", description: "Version that the code gives itself." },
    { name: "Key", type: "string", path: ".status.build.definition.key", description: "Key that the code gives itself.", wide: true },
    { name: "Bytes", type: "integer", path: ".status.build.bundleBytes", description: "Size of the bundle.", wide: true },
  ),
  selectable: [".spec.key", ".status.id"],
  spec,
  status,
});
