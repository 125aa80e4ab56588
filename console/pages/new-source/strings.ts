export const text = {
  title: "New source",
  from: "Start from",
  catalogue: "Catalogue",
  code: "Code",
  address: "An address",
  change: "Choose another",
  configure: "Configure",
  name: "Name",
  nameHint: "Optional: without one, the source is named after its component.",
  url: "Address of the component",
  urlHint: "A file on GitHub or any https address, with the modules that it imports.",
  language: "Language",
  javascript: "JavaScript",
  typescript: "TypeScript",
  check: "Check the code",
  checking: "Building…",
  deploy: "Deploy",
  test: "Test",
  testing: "Running…",
  testHint: "Test calls the component once with these values, and keeps nothing.",
  testResult: "Result of the test",
  testFailed: "The component was not tested",
  deploying: "Deploying…",
  failed: "The source was not deployed",
  checkFailed: "The code cannot be built",
  checked: "The code can be built",
  noProps: "This component needs no configuration.",
  component: "Component",
} as const;

/** What the editor begins with. */
export const examples = {
  javascript: `export default {
  name: "Hello",
  version: "0.1.0",
  props: {
    db: "$.service.db",
    timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
  },
  async run() {
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    this.$emit({ count }, { summary: \`number \${count}\` });
  },
};
`,
  typescript: `import { defineSource } from "headwater/types";

export default defineSource({
  name: "Hello",
  version: "0.1.0",
  props: {
    db: "$.service.db",
    timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
  },
  async run() {
    const count = ((this.db.get("count") as number | undefined) ?? 0) + 1;
    this.db.set("count", count);
    this.$emit({ count }, { summary: \`number \${count}\` });
  },
});
`,
} as const;
