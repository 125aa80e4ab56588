import { expect, it, vi } from "vitest";
import { z } from "zod";
import type { Resource } from "../../../crds/resource.ts";
import { Unavailable } from "../../../domain/errors.ts";
import type { Kubernetes } from "../../../platform/kubernetes/access/connection.ts";
import { KubernetesEvents } from "../../../platform/kubernetes/events.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { withKubernetes } from "./support.ts";

const resourceIn = (namespace: string, name = "my-source"): Resource => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind: "Source",
  metadata: {
    name,
    namespace,
    uid: `uid-${name}`,
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: "2026-11-21T00:00:00Z",
    finalizers: [],
    labels: {},
    annotations: {},
  },
  spec: {},
  status: {},
});

const list = z.object({
  items: z.array(
    z.object({
      reason: z.string(),
      note: z.string(),
      type: z.string(),
      series: z.object({ count: z.number() }).optional(),
      regarding: z.object({ name: z.string() }),
    }),
  ),
});

/** A Kubernetes API that only counts requests. */
function counting(answer: () => Promise<unknown> = () => Promise.resolve({})): {
  kubernetes: Kubernetes;
  requests: { method: string; body: unknown }[];
} {
  const requests: { method: string; body: unknown }[] = [];
  const kubernetes: Kubernetes = {
    server: "",
    namespace: "",
    request: ({ method, body }) => {
      requests.push({ method, body });
      return answer();
    },
    stream: () => Promise.reject(new Error("no watches here")),
    close: () => Promise.resolve(),
  };
  return { kubernetes, requests };
}

const options = { instance: "operator-1", onError: () => undefined };

it("records 25 different events of a resource at once, then one in five minutes", async () => {
  let now = 1e12;
  const { kubernetes, requests } = counting();
  const events = new KubernetesEvents(kubernetes, { ...options, now: () => now });
  for (let i = 0; i < 40; i++) events.record(resourceIn("ns"), { type: "Warning", reason: "HookFailed", message: `attempt ${i}` });
  await vi.waitFor(() => expect(requests).toHaveLength(25), { timeout: 120_000 });
  events.record(resourceIn("ns", "another"), { type: "Normal", reason: "Deployed", message: "deployed" });
  now += 5 * 60_000;
  events.record(resourceIn("ns"), { type: "Warning", reason: "HookFailed", message: "later" });
  events.record(resourceIn("ns"), { type: "Warning", reason: "HookFailed", message: "too many again" });
  await vi.waitFor(() => expect(requests).toHaveLength(27), { timeout: 120_000 });
  await events.stop();
});

it("counts repeated events, and writes the count periodically and at the end", async () => {
  let now = 1e12;
  const { kubernetes, requests } = counting();
  const events = new KubernetesEvents(kubernetes, { ...options, now: () => now });
  const record = (): void => events.record(resourceIn("ns"), { type: "Warning", reason: "BuildFailed", message: "no such package" });
  record();
  await vi.waitFor(() => expect(requests).toHaveLength(1), { timeout: 120_000 });
  for (let i = 1; i < 100; i++) {
    now += 1_000;
    record();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await events.stop();
  const [first, ...counts] = requests.map(({ method }) => method);
  expect([first, ...new Set(counts)]).toEqual(["POST", "PATCH"]);
  expect(counts.length).toBeLessThanOrEqual(4);
  expect(requests.at(-1)?.body).toMatchObject({ series: { count: 100 } });
});

it("neither throws nor waits while the API is unavailable, and bounds its memory", async () => {
  const errors: unknown[] = [];
  const { kubernetes } = counting(() => Promise.reject(new Unavailable("away")));
  const events = new KubernetesEvents(kubernetes, { ...options, onError: (error) => errors.push(error) });
  for (let i = 0; i < 10_000; i++) events.record(resourceIn("ns", `s${i}`), { type: "Normal", reason: "Deployed", message: "deployed" });
  await vi.waitFor(() => expect(errors).toHaveLength(500), { timeout: 120_000 });
  await events.stop();
});

it("names an Event after its resource, also if the name is long", async () => {
  const { kubernetes, requests } = counting();
  const events = new KubernetesEvents(kubernetes, options);
  events.record(resourceIn("ns", `${"x".repeat(199)}.cut`), { type: "Normal", reason: "Deployed", message: "deployed" });
  await events.stop();
  expect(requests).toMatchObject([{ body: { metadata: { name: expect.stringMatching(/^x{199}\.[0-9a-f]{16}$/) } } }]);
});

it("masks passwords in URLs, and truncates long messages", async () => {
  const { kubernetes, requests } = counting();
  const events = new KubernetesEvents(kubernetes, options);
  events.record(resourceIn("ns"), {
    type: "Warning",
    reason: "CodeNotRead",
    message: `https://me:hunter2@example.com/x says ${"😀".repeat(600)}`,
  });
  await events.stop();
  const { note } = z.object({ note: z.string() }).parse(requests[0]?.body);
  expect(note).toMatch(/^https:\/\/…@example\.com\/x says 😀/);
  expect(note).not.toContain("hunter2");
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
});

const kube = await withKubeApi();
const kubernetes = withKubernetes(kube);

kube.describe("Events of a real API server", () => {
  it("lists the Events of a resource with their count", async () => {
    const namespace = await kube.namespace();
    const errors: unknown[] = [];
    let now = Date.now();
    const events = new KubernetesEvents(kubernetes(), { ...options, now: () => now, onError: (error) => errors.push(error) });
    const event = { type: "Warning", reason: "HookFailed", message: "hook activate failed" } as const;
    events.record(resourceIn(namespace), event);
    const read = async () =>
      list.parse(await kubernetes().request({ method: "GET", path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events` })).items;
    await vi.waitFor(async () => expect(await read()).toHaveLength(1), { timeout: 120_000 });
    now += 60_000;
    events.record(resourceIn(namespace), event);
    events.record(resourceIn(namespace), event);
    events.record(resourceIn(namespace), { type: "Normal", reason: "Deployed", message: "deployed" });
    await events.stop();
    expect(errors).toEqual([]);
    expect((await read()).toSorted((a, b) => (a.reason < b.reason ? 1 : -1))).toMatchObject([
      { reason: "HookFailed", note: "hook activate failed", type: "Warning", series: { count: 3 }, regarding: { name: "my-source" } },
      { reason: "Deployed", type: "Normal" },
    ]);
    if (kube.hasKubectl) expect((await kube.kubectl(["get", "events", "-n", namespace])).stdout).toContain("HookFailed");
  });
});
