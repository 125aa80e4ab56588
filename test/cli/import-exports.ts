import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

/** Exports in the form of the service's Git projects, one for each form of trigger, step and code. All are written for these tests. */
type Files = Readonly<Record<string, string>>;

const yaml = (name: string, rest: string): string => `schema: workflow/2022.04\nname: ${name}\n${rest}`;
const one = (slug: string, rest: string, files: Files = {}): Files => {
  const folder = `${slug}-p_${slug.replaceAll("-", "")}1`;
  const others = Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text] as const);
  return { [`${folder}/workflow.yaml`]: yaml(slug, rest), [`${folder}/.workflow.state`]: "opaque", ...Object.fromEntries(others) };
};
const codeStep = (name: string, extension = "js", runtime = "nodejs20.x"): string =>
  `  - namespace: ${name}\n    runtime: ${runtime}\n    uses: ./${name}/entry.${extension}\n`;
const component = (body: string): string => `export default defineComponent({\n  async run({ steps, $ }) {\n    ${body}\n  },\n})\n`;

export const exports = {
  /** Runs as it is: HTTP, steps that read each other, `$.respond`, an npm import, and a variable. */
  greeting: one(
    "greeting",
    `settings:\n  error_notification: false\n  lambda_timeout: 30\ntriggers:\n  - id: hi_aB1\nsteps:\n${codeStep("greet")}${codeStep("answer")}`,
    {
      "greet/entry.js": `import { camelCase } from "lodash";\n${component(
        "return `${process.env.GREETING}, ${camelCase(steps.trigger.event.body.name)}`;",
      )}`,
      "answer/entry.js": component(
        'await $.respond({ status: 201, body: { text: steps.greet.$return_value } });\n    $.export("$summary", "greeted");',
      ),
    },
  ),
  timer: one("nightly", `triggers:\n  - id: ti_9\nsteps:\n${codeStep("work")}`, { "work/entry.js": component("return 1;") }),
  source: one("on-event", `triggers:\n  - id: dc_Zz9\nsteps:\n${codeStep("work")}`, { "work/entry.js": component("return 1;") }),
  email: one("mailbox", `triggers:\n  - id: ei_5\nsteps:\n${codeStep("work")}`, { "work/entry.js": component("return 1;") }),
  action: one(
    "notify",
    `triggers:\n  - id: hi_2\nsteps:\n  - namespace: send\n    uses: chat-send-message@0.1.2\n    props:\n      chat:\n        authProvisionId: apn_OLD1\n      text: "{{steps.trigger.event.body.text}} {{process.env.SIGNATURE}}"\n`,
  ),
  /** Values that were chosen in lists, with their labels, and an action without an account. */
  chosen: one(
    "sheet",
    `triggers:\n  - id: hi_5\nsteps:\n  - namespace: add\n    uses: table_store-add-row@2.1.2\n    _props_cursor: dyp_1\n    props:\n      __configurableProps:\n      - name: sheet\n      sheet:\n        __lv:\n          label: Guests\n          value: id-1\n      columns:\n      - __lv:\n          label: Name\n          value: 0\n      - plain\n      col_0000: "{{ steps.trigger.event.body.name }}"\n`,
  ),
  /** Props on `this`, an account in a code step, and CommonJS. */
  commonJs: one(
    "older-code",
    `triggers:\n  - id: hi_3\nsteps:\n  - namespace: call\n    uses: ./call/entry.js\n    props:\n      crm:\n        authProvisionId: apn_OLD2\n`,
    {
      "call/entry.js":
        'module.exports = defineComponent({\n  props: { crm: { type: "app", app: "crm" } },\n  async run({ steps, $ }) {\n    return this.crm.$auth.oauth_access_token;\n  },\n});\n',
    },
  ),
  languages: one(
    "polyglot",
    `triggers: []\nsteps:\n${codeStep("py", "py", "python3.12")}${codeStep("go", "go", "golang1.x")}${codeStep("sh", "sh", "bash")}`,
    { "py/entry.py": "def handler(pd):\n  pass\n", "go/entry.go": "package main\n", "sh/entry.sh": "echo\n" },
  ),
  store: one(
    "counter",
    `triggers:\n  - id: hi_4\nsteps:\n  - namespace: count\n    uses: ./count/entry.js\n    props:\n      store:\n        storeId: ds_Q1\n`,
    {
      "count/entry.js": `export default defineComponent({ props: { store: { type: "data_store" } }, run() { return this.store.increment("n"); } });`,
    },
  ),
  inactive: one(
    "paused",
    `inactive: true\nsettings:\n  concurrency: 1\ntriggers: []\nsteps:\n${codeStep("keep")}  - namespace: drop\n    uses: ./drop/entry.js\n    disabled: true\n    notes: not now\n`,
    { "keep/entry.js": component("return $.flow.exit('done');"), "drop/entry.js": component("return 2;") },
  ),
  flow: one("waits", `triggers:\n  - id: hi_5\nsteps:\n${codeStep("wait")}`, {
    "wait/entry.js": component("await $.send.http({ method: 'POST', url: 'https://example.com' });\n    return $.flow.delay(1);"),
  }),
  broken: one("not-an-export", `triggers:\n  - id: hi_6\nsteps:\n${codeStep("bare")}${codeStep("missing")}${codeStep("local")}`, {
    "bare/entry.js": "const x = event.body;\n",
    "local/entry.js": 'import { a } from "../lib/a.js";\nexport default { run() { return a; } };\n',
  }),
} as const satisfies Record<string, Files>;

export async function writeExport(folder: string, files: Files): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

interface ZipEntry {
  readonly path: string;
  readonly content: Buffer;
  /** What the directory states; default: the truth. */
  readonly bytes?: number;
  readonly mode?: number;
  readonly flags?: number;
}

/** A ZIP archive, which may lie. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content, bytes = content.length, mode = 0o100644, flags = 0 } of entries) {
    const [name, packed] = [Buffer.from(path), deflateRawSync(content)];
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(crc32(content), 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(bytes, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE((mode << 16) >>> 0, 38);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, name, packed);
    directory.push(entry, name);
    offset += local.length + name.length + packed.length;
  }
  const [files, central] = [Buffer.concat(locals), Buffer.concat(directory)];
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(files.length, 16);
  return Buffer.concat([files, central, end]);
}

export const zipFiles = (files: Files): Buffer =>
  zipOf(Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text) })));
