import { describe, expect, test } from "vitest";
import type { ComponentCode } from "../../../domain/component/component-code.ts";
import { componentKind } from "../../../crds/component.ts";
import { fakeBuild } from "./fake-builds.ts";
import { keys, withApi } from "./support.ts";

const built: ComponentCode[] = [];
const fetchedFor: string[] = [];
const fetched = { code: "name: Fetched", entry: "sources/a.mjs", files: { "app.mjs": "1" } };
const api = withApi(
  {},
  {
    builds: {
      build: async (component) => {
        built.push(component);
        return fakeBuild(component.code);
      },
    },
    fetchComponent: async (_url, owner) => (fetchedFor.push(owner), fetched),
  },
);
const post = (body: object, path = "/v1/components") => api.ask("POST", path, { body });
const files = { "sources/new.mjs": "name: New; props: http", "app.mjs": "1", "package.json": "{}" };

async function upload(form: FormData, path = "/v1/components", method = "POST") {
  const response = await fetch(api.url + path, { method, body: form, headers: { authorization: `Bearer ${keys.ada}` } });
  return { status: response.status, body: (await response.json()) as { data: Record<string, unknown>; error: string; code: string } };
}

function formOf(texts: Readonly<Record<string, string | Blob>>, fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [path, text] of Object.entries(texts)) form.append("file", typeof text === "string" ? new Blob([text]) : text, path);
  return form;
}

describe("a component of several files", () => {
  test("is saved from JSON, with the entry as code and the names of the other files", async () => {
    const { status, body } = await post({ component_files: files, component_entry: "sources/new.mjs" });
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({
        code: files["sources/new.mjs"],
        entry: "sources/new.mjs",
        files: ["app.mjs", "package.json"],
        name: "New",
      }),
    ]);
    expect(built.at(-1)).toEqual({
      code: files["sources/new.mjs"],
      entry: "sources/new.mjs",
      files: { "app.mjs": "1", "package.json": "{}" },
    });
    expect((await api.ask("GET", `/v1/components/${body.data.id}`)).body).toEqual(body);
    expect((await api.store.findById(componentKind, body.data.id))?.spec.files).toEqual({ "app.mjs": "1", "package.json": "{}" });
  });

  test("is the same component in every form, and another one with other files", async () => {
    const { body } = await post({ component_files: files, component_entry: "sources/new.mjs" });
    const { "sources/new.mjs": code, ...others } = files;
    const asCode = await post({ component_code: code, component_entry: "./sources/new.mjs", component_files: others });
    const asForm = await upload(formOf(files, { entry: "sources/new.mjs" }));
    expect([asCode.body.data.id, asForm.body.data["id"]]).toEqual([body.data.id, body.data.id]);
    const changed = await post({ component_files: { ...files, "app.mjs": "2" }, component_entry: "sources/new.mjs" });
    expect(changed.body.data.id).not.toBe(body.data.id);
    expect(changed.body.data.code_hash).toBe(body.data.code_hash);
  });

  test("saved twice concurrently is one component", async () => {
    const body = { component_files: { "a.mjs": "name: Twice", "b.mjs": "" }, component_entry: "a.mjs" };
    const answers = await Promise.all([post(body), post(body), post(body)]);
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1);
  });

  test("needs no entry with a single file", async () => {
    expect((await post({ component_files: { "sources/only.ts": "name: Only" } })).body.data).toMatchObject({
      entry: "sources/only.ts",
      files: [],
      name: "Only",
    });
  });

  test("is deployed as a source, and replaces another component", async () => {
    const created = await post({ component_files: files, component_entry: "sources/new.mjs" }, "/v1/sources");
    expect(created.status).toBe(200);
    const put = await upload(
      formOf(
        { "a.mjs": "name: Other; props: city", "b.mjs": "" },
        { entry: "a.mjs", configured_props: '{"city":"Bonn"}', active: "false", name: "Mine" },
      ),
      `/v1/sources/${created.body.data.id}`,
      "PUT",
    );
    expect([put.status, put.body.data]).toEqual([
      200,
      expect.objectContaining({ name: "Mine", active: false, configured_props: { city: "Bonn" } }),
    ]);
    expect(put.body.data["component_id"]).not.toBe(created.body.data.component_id);
  });

  test("is fetched whole from its address, which is stored", async () => {
    const { body } = await post({ component_url: "https://x.test/sources/a.mjs" });
    expect(body.data).toMatchObject({ code: fetched.code, entry: "sources/a.mjs", files: ["app.mjs"] });
    expect((await api.store.findById(componentKind, body.data.id))?.spec.url).toBe("https://x.test/sources/a.mjs");
    expect(fetchedFor).toEqual([expect.stringMatching(/^u_/)]);
  });
});

describe("a refused component", () => {
  test.each([
    [{ component_files: files }, 422, "component_entry is missing"],
    [
      { component_files: files, component_entry: "app.js" },
      422,
      'component_entry is "app.js", which is not among component_files: sources/new.mjs',
    ],
    [{ component_files: {}, component_entry: "a.mjs" }, 422, "there are none"],
    [{ component_files: { "a.mjs": "" } }, 422, 'the file "a.mjs", which component_entry names, is empty'],
    [{ component_files: { "a.mjs": "name: A", "../b.mjs": "" }, component_entry: "a.mjs" }, 422, '"../b.mjs" is no path'],
    [{ component_files: { "a.mjs": "name: A", "./a.mjs": "" }, component_entry: "a.mjs" }, 422, 'has "a.mjs" twice'],
    [{ component_files: { "a.mjs": 1 } }, 422, "component_files.a.mjs is invalid: it must be a string"],
    [{ component_files: ["a"] }, 422, "component_files"],
    [
      { component_files: Object.fromEntries(Array.from({ length: 202 }, (_, n) => [`${n}.js`, "name: Many"])), component_entry: "0.js" },
      413,
      "has 201 files",
    ],
    [{ component_code: "name: X", component_files: { "a.txt": "x".repeat(2 ** 20) } }, 413, "the code and its files are"],
    [{ component_entry: "a.mjs" }, 422, "no code is given"],
  ])("as JSON: %#", async (body, status, message) => {
    const answer = await post(body);
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(message)]);
  });

  test.each([
    ["without an entry", formOf(files), 422, "component_entry is missing"],
    ["with a path that climbs", formOf({ "a.mjs": "name: A", "../../b.mjs": "" }, { entry: "a.mjs" }), 422, '"../../b.mjs" is no path'],
    ["with a file that is not text", formOf({ "a.mjs": new Blob([new Uint8Array([0xff, 0xfe, 0])]) }), 422, 'the file "a.mjs" is not text'],
    ["with too large a file", formOf({ "a.mjs": "x".repeat(2 ** 20 + 1) }), 413, 'the file "a.mjs" is larger than 1048576 bytes'],
    ["with too many files", formOf(Object.fromEntries(Array.from({ length: 205 }, (_, n) => [`${n}.js`, ""]))), 413, "more than 200 files"],
    ["with nothing", formOf({}), 422, "no code is given"],
  ])("as a form %s", async (_, form, status, message) => {
    const { status: answered, body } = await upload(form);
    expect([answered, body.error]).toEqual([status, expect.stringContaining(message)]);
  });

  test("as a form with a field that is not valid JSON", async () => {
    const { status, body } = await upload(formOf({ "a.mjs": "name: A" }, { configured_props: "{" }), "/v1/sources");
    expect([status, body.error]).toEqual([422, 'the field "configured_props" is not valid JSON']);
  });

  test("as an incomplete form, or where no files are accepted", async () => {
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const cut = await api.ask("POST", "/v1/components", {
      raw: '--x\r\ncontent-disposition: form-data; name="f"; filename="a.mjs"\r\n\r\nname: A',
      headers,
    });
    expect([cut.status, cut.body.code]).toEqual([400, "invalid_multipart"]);
    const elsewhere = await api.ask("POST", "/v1/webhooks", { raw: "--x--", headers });
    expect([elsewhere.status, elsewhere.body.code]).toEqual([400, "wrong_content_type"]);
    expect((await api.ask("POST", "/v1/components", { raw: "x".repeat(5 * 2 ** 20), headers })).status).toBe(413);
  });
});
