/** A component to begin with, and its test. */
export interface Template {
  readonly name: string;
  readonly kind: "source" | "action";
  readonly does: string;
  readonly component: (title: string) => string;
  /** @param file name of the file of the component */
  readonly test: (file: string) => string;
}

const testHead = (run: string, file: string): string =>
  `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { ${run} } from "headwater/testing";\nimport component from "./${file}";\n\n`;

const timer: Template = {
  name: "timer",
  kind: "source",
  does: "emits an event at an interval",
  component: (title) => `import { defineSource } from "headwater/types";

export default defineSource({
  name: ${title},
  version: "0.1.0",
  type: "source",
  props: {
    db: "$.service.db",
    timer: { type: "$.interface.timer", description: "How often to run", default: { intervalSeconds: 10 } },
  },
  run(event) {
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    this.$emit({ count, at: event?.timestamp }, { summary: \`number \${count}\` });
  },
});
`,
  test: (file) => `${testHead("runSource", file)}test("counts its runs", async () => {
  const { events, db } = await runSource(component, { event: { timestamp: 1_800_000_000 }, db: { count: 2 } });
  assert.deepEqual(events, [{ event: { count: 3, at: 1_800_000_000 }, summary: "number 3" }]);
  assert.equal(db.count, 3);
});
`,
};

const http: Template = {
  name: "http",
  kind: "source",
  does: "emits each request, and responds to it",
  component: (title) => `import { defineSource } from "headwater/types";

export default defineSource({
  name: ${title},
  version: "0.1.0",
  type: "source",
  props: {
    http: { type: "$.interface.http", customResponse: true },
  },
  run(event) {
    this.http.respond({ status: 200, body: { received: true } });
    this.$emit({ path: event.path, body: event.body }, { summary: \`\${event.method} \${event.path}\` });
  },
});
`,
  test: (file) => `${testHead("runSource", file)}test("emits a request, and responds", async () => {
  const { events, response } = await runSource(component, { event: { method: "POST", path: "/orders", body: { id: 7 } } });
  assert.deepEqual(events, [{ event: { path: "/orders", body: { id: 7 } }, summary: "POST /orders" }]);
  assert.equal(response?.status, 200);
});
`,
};

const poll: Template = {
  name: "poll",
  kind: "source",
  does: "reads a list at an interval, and emits what is new",
  component: (title) => `import { defineSource } from "headwater/types";

export default defineSource({
  name: ${title},
  version: "0.1.0",
  type: "source",
  dedupe: "unique",
  props: {
    timer: { type: "$.interface.timer", description: "How often to look", default: { intervalSeconds: 300 } },
    url: { type: "string", label: "URL", description: "Address of a JSON list whose items have an id" },
  },
  async run() {
    const response = await fetch(this.url);
    if (!response.ok) throw new Error(\`\${this.url} responded with \${response.status}\`);
    for (const item of await response.json()) this.$emit(item, { id: item.id, summary: \`item \${item.id}\` });
  },
});
`,
  test: (file) => `import { createServer } from "node:http";
${testHead("runSource", file)}test("emits each item with its id", async () => {
  const server = createServer((_request, response) => response.end(JSON.stringify([{ id: 1 }, { id: 2 }])));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { events } = await runSource(component, { props: { url: \`http://127.0.0.1:\${port}/\` } });
  server.close();
  assert.deepEqual(events.map(({ id }) => id), [1, 2]);
});
`,
};

const filter: Template = {
  name: "filter",
  kind: "source",
  does: "passes on some events of another source",
  component: (title) => `import { defineSource } from "headwater/types";

// Subscribe it to another source: hw subscribe <that source> <this source>
export default defineSource({
  name: ${title},
  version: "0.1.0",
  type: "source",
  props: {
    field: { type: "string", description: "Field that an event must have", default: "id" },
  },
  run(event) {
    if (typeof event === "object" && event !== null && this.field in event) this.$emit(event);
  },
});
`,
  test: (file) => `${testHead("runSource", file)}test("passes on events with the field", async () => {
  assert.equal((await runSource(component, { event: { id: 1 } })).events.length, 1);
  assert.equal((await runSource(component, { event: { other: 1 } })).events.length, 0);
});
`,
};

const action: Template = {
  name: "action",
  kind: "action",
  does: "is a step of a workflow",
  component: (title) => `import { defineAction } from "headwater/types";

export default defineAction({
  name: ${title},
  version: "0.1.0",
  type: "action",
  props: {
    who: { type: "string", description: "Whom to greet", default: "world" },
  },
  run({ $ }) {
    const greeting = \`hello \${this.who}\`;
    $.export("$summary", greeting);
    return { greeting };
  },
});
`,
  test: (file) => `${testHead("runAction", file)}test("greets", async () => {
  const { result, exports } = await runAction(component, { props: { who: "Ada" } });
  assert.deepEqual(result, { greeting: "hello Ada" });
  assert.equal(exports.$summary, "hello Ada");
});
`,
};

export const templates: readonly Template[] = [timer, http, poll, filter, action];
