import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Builder } from "../../../builder/builder.ts";
import { type BuilderFixture, openBuilderFixture } from "../../sandbox/builder-fixture.ts";
import { registryAnswers } from "../../support/npm-registry.ts";
import { failure } from "./support.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures/components");
const files = (await readdir(fixtures, { withFileTypes: true }))
  .filter((entry) => entry.isFile() && !entry.name.endsWith(".md"))
  .map(({ name }) => name);
const reachable = await registryAnswers();

let opened: BuilderFixture;
let builder: Builder;

beforeAll(async () => {
  opened = await openBuilderFixture();
  ({ builder } = opened);
});

afterAll(() => opened.stop());

const read = (name: string): Promise<string> => readFile(join(fixtures, name), "utf8");

describe("the example components, read in the sandbox", () => {
  test.each(files)("%s has a definition", async (name) => {
    const code = await read(name);
    if (!reachable && /platform|htmlparser2/.test(code)) return;
    const { definition } = await builder.build({ code });
    expect(definition).toMatchObject({
      type: "source",
      version: "1.0.0",
      key: expect.stringMatching(/^headwater-/),
      description: expect.any(String),
    });
    expect(definition.props.length).toBeGreaterThan(0);
  });

  test("every-nth, which has several files, has a definition", async () => {
    const code = await read("every-nth/sources/every-nth.mjs");
    const others = ["common/count.mjs", "texts.json"];
    const beside = Object.fromEntries(await Promise.all(others.map(async (path) => [path, await read(`every-nth/${path}`)])));
    const { definition } = await builder.build({ code, entry: "sources/every-nth.mjs", files: beside });
    expect(definition).toMatchObject({ key: "headwater-every-nth", props: [{ name: "db" }, { name: "http" }] });
  });

  test("definitions contain the component's metadata", async () => {
    expect((await builder.build({ code: await read("hooks.mjs") })).definition.hooks).toEqual(["deploy", "activate", "deactivate"]);
    expect((await builder.build({ code: await read("greatest-id.mjs") })).definition.dedupe).toBe("greatest");
    expect((await builder.build({ code: await read("http-echo.mjs") })).definition.props).toEqual([
      { name: "http", type: "$.interface.http", customResponse: true },
    ]);
  });
});

describe("the broken components", () => {
  test.each([
    ["syntax-error.mjs", "syntax_error", 'component.js:4:3: Expected "}" but found "version"'],
    [
      "relative-import.mjs",
      "import_not_found",
      'component.js:2:24: import "./helper.mjs" is not found: the component came as one file; send the others with it (component_files)',
    ],
    ["no-run.mjs", "no_run", "the component has neither a function 'run' nor an interface"],
    ["no-name.mjs", "no_name", 'the component\'s name is missing; it must be a string, such as name: "New orders"'],
    ["never-ending.mjs", "evaluation_timeout", "the module waits at its top level (await)"],
    ["unknown-prop-type.mjs", "unknown_prop_type", "prop 'colour' has the unknown type \"colour\""],
    ["throws-at-load.mjs", "evaluation_error", "component.js:5:18: TypeError: Cannot read properties of undefined (reading 'name')"],
  ])("%s is refused as %s", async (name, code, message) => {
    const error = await failure(builder.build({ code: await read(`broken/${name}`) }));
    expect(error).toMatchObject({ status: 422, code });
    expect(error.message.startsWith(message)).toBe(true);
    if (code === "unknown_prop_type") expect(error.details).toMatchObject({ prop: "colour" });
  });

  test.skipIf(!reachable)("unknown-package.mjs is refused as package_not_found", async () => {
    const error = await failure(builder.build({ code: await read("broken/unknown-package.mjs") }));
    expect(error.message).toBe(
      "component.js:2:21: package headwater-package-that-does-not-exist is not in the npm registry: check its name",
    );
  });
});
