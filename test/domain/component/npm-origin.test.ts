import { describe, expect, it } from "vitest";
import { formatNpmOrigin, npmAddress, parseNpmOrigin, pinLine, pinnedPackage } from "../../../domain/component/npm-origin.ts";

const read = (text: string): unknown => parseNpmOrigin(text);

describe("an address of npm", () => {
  it.each([
    ["npm:left-pad", { name: "left-pad", range: null, path: "" }],
    ["npm:@acme/tasks@1.2.0/sources/new/new.mjs", { name: "@acme/tasks", range: "1.2.0", path: "sources/new/new.mjs" }],
    ["npm:@acme/tasks/actions/add.ts", { name: "@acme/tasks", range: null, path: "actions/add.ts" }],
    [
      "npm:@acme/piece@^1 || ^2#action/add_entry",
      { name: "@acme/piece", range: "^1 || ^2", path: "", member: { kind: "action", name: "add_entry" } },
    ],
    [
      "npm:@acme/piece@next#trigger/new-entry",
      { name: "@acme/piece", range: "next", path: "", member: { kind: "trigger", name: "new-entry" } },
    ],
  ])("%s is read", (text, origin) => {
    expect(read(text)).toEqual(origin);
    expect(formatNpmOrigin(parseNpmOrigin(text))).toBe(text);
    expect(text).toMatch(new RegExp(npmAddress, "u"));
  });

  it.each([
    "npm:",
    "npm:../..",
    "npm:/etc/passwd",
    "npm:.hidden",
    "npm:__proto__",
    "npm:constructor",
    "npm:node_modules",
    "npm:a/../../b",
    "npm:a/./b",
    "npm:a//b",
    "npm:a/b\\c",
    "npm:https://example.com/x.tgz",
    "npm:a@https://example.com/x.tgz",
    "npm:a@git+ssh://git@example.com/x",
    "npm:a@github:owner/repo",
    "npm:a@file:../x",
    "npm:a@npm:b@1",
    "npm:a@./x.tgz",
    "npm:a@x.tgz",
    "npm:a@^",
    "npm:a#action",
    "npm:a#action/",
    "npm:a#action/../x",
    "npm:a#other/x",
    "npm:a/file.mjs#action/x",
    `npm:a/${"x".repeat(3_000)}`,
  ])("%s is refused with what would be right", (text) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ code: "invalid_npm_address", message: expect.stringContaining("npm:<package>@<version>/<file>") }),
    );
  });
});

it("reads the package that a module pins, and none in other code", () => {
  const pinned = { name: "@acme/tasks", version: "1.2.0", integrity: "sha512-abc==" };
  expect(pinnedPackage(`${pinLine(pinned)}export {};\n`)).toEqual(pinned);
  expect(pinnedPackage("// npm:x is good\nexport default {};\n")).toBeUndefined();
  expect(pinnedPackage(`\n${pinLine(pinned)}`)).toBeUndefined();
});
