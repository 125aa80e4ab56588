import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();

const resources = (seconds: number): string => `
apiVersion: v1
kind: Secret
metadata: { name: greeting }
stringData: { text: secret words }
---
apiVersion: headwater.dev/v1alpha1
kind: Subscription
metadata: { name: greetings-to-orders }
spec:
  emitterRef: { kind: Source, name: greeter }
  listenerRef: { kind: Webhook, name: orders }
---
apiVersion: headwater.dev/v1alpha1
kind: Webhook
metadata: { name: orders }
spec: { url: "https://example.com/orders", ordered: true }
---
apiVersion: headwater.dev/v1alpha1
kind: Source
metadata: { name: greeter }
spec:
  props:
    timer: { intervalSeconds: ${seconds} }
  secrets:
    text: { secretKeyRef: { name: greeting, key: text } }
  code: |
    export default {
      name: "Greeter",
      version: "0.0.1",
      props: { timer: { type: "$.interface.timer" }, text: { type: "string", secret: true } },
      run() { this.$emit({ length: this.text.length }); },
    };
---
apiVersion: headwater.dev/v1alpha1
kind: Workflow
metadata: { name: answer }
spec:
  triggers:
    - sourceRef: { name: greeter }
    - http: {}
  steps:
    - name: reply
      code: |
        export default { type: "action", name: "Reply", version: "0.0.1", run({ steps }) { return steps.trigger.event; } };
  settings: { concurrency: 2 }
`;

it("creates resources with their references, changes what differs, and leaves the rest", async () => {
  const file = join(headwater.world.directory, "resources.yaml");
  await writeFile(file, resources(900));
  expect(await headwater.hw("diff", "-f", file)).toMatchObject({ code: 1, stderr: expect.stringContaining("4 resources differ") });
  const created = (await headwater.ok("apply", "-f", file)).trim().split("\n");
  expect(created.toSorted()).toEqual([
    "source/greeter created",
    "subscription/greetings-to-orders created",
    "webhook/orders created",
    "workflow/answer created",
  ]);
  const again = (await headwater.ok("apply", "-f", file)).trim().split("\n");
  expect(again.every((line) => line.endsWith(" unchanged"))).toBe(true);
  expect((await headwater.hw("diff", "-f", file)).code).toBe(0);

  await writeFile(file, resources(600));
  const difference = await headwater.hw("diff", "-f", file);
  expect(difference.stdout).toMatch(/^source\/greeter: update\n[\s\S]*\n- {5}intervalSeconds: 900\n\+ {5}intervalSeconds: 600/);
  expect(
    (await headwater.ok("apply", "-f", file))
      .trim()
      .split("\n")
      .filter((line) => !line.endsWith("unchanged")),
  ).toEqual(["source/greeter changed"]);
  const [source] = (await headwater.json<{ data: { configured_props: unknown }[] }>("list")).data;
  expect(source?.configured_props).toMatchObject({ timer: { interval_seconds: 600 } });
});

it("exports resources that apply as they are, here and where nothing exists yet", async () => {
  const exported = await headwater.ok("export");
  expect(exported).toContain("kind: Workflow");
  expect(exported).not.toContain("secret words");
  const file = join(headwater.world.directory, "exported.yaml");
  await writeFile(file, exported);
  const again = (await headwater.ok("apply", "-f", file)).trim().split("\n");
  expect(again.filter((line) => !line.endsWith("unchanged"))).toEqual([]);
  await headwater.ok("delete", "webhook/orders", "--yes");
  expect((await headwater.ok("apply", "-f", file)).split("\n")).toContain("webhook/orders created");
});

it("rejects files that are no resources, with a sentence and exit code 2", async () => {
  const file = join(headwater.world.directory, "wrong.yaml");
  for (const [text, message] of [
    ["a: [", "is not YAML"],
    ["apiVersion: headwater.dev/v1alpha1\nkind: RunnerPool\nmetadata: {name: x}\nspec: {}\n", "cannot be applied over the API"],
    ["apiVersion: v2\nkind: Source\nmetadata: {name: x}\n", "apiVersion"],
    ["kind: Source\n", "metadata.name"],
  ] as const) {
    await writeFile(file, text);
    const { code, stderr } = await headwater.hw("apply", "-f", file);
    expect({ text, code }).toEqual({ text, code: 2 });
    expect(stderr).toContain(message);
  }
  expect((await headwater.hw("apply", "-f", "missing.yaml")).code).toBe(2);
});
