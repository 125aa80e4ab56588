import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { until } from "../support/until.ts";
import { call, deploy, type Endpoint, namespace, owned, report } from "./installation.ts";
import { kubectl, tryKubectl } from "./kubectl.ts";
import { countingSources, expectNothingLost, startLoad } from "./load.ts";
import { nodeShell, onNode } from "./node-shell.ts";

const seconds = Number(process.env["HEADWATER_TEST_OUTAGE_SECONDS"] ?? 20);
const perSecond = 100;
const made: Endpoint[] = [];

afterAll(async () => {
  await tryKubectl(["-n", owned, "delete", "sources,webhooks,subscriptions", ...made.map(({ name }) => name)]);
});

const ticking = `export default {
  name: "Ticking",
  props: { timer: { type: "$.interface.timer" } },
  run({ timestamp }) { this.$emit({ timestamp }); },
};`;
const pageSchema = z.object({
  page_info: z.object({ end_cursor: z.string().nullable() }),
  data: z.array(z.object({ event: z.object({ timestamp: z.number() }) })),
});

/** The ticks that a source emitted, epoch seconds, oldest first. */
async function ticksOf(id: string): Promise<readonly number[]> {
  const ticks: number[] = [];
  for (let after = ""; ;) {
    const { text } = await call("GET", `/sources/${id}/event_summaries?limit=100&expand=event${after}`);
    const page = pageSchema.parse(JSON.parse(text));
    ticks.push(...page.data.map(({ event }) => event.timestamp));
    if (page.data.length < 100) return ticks.toSorted((a, b) => a - b);
    after = `&after=${page.page_info.end_cursor}`;
  }
}

/** Stops the API server, also one that is started again in the meantime. */
const withoutApiServer = `for n in $(seq ${seconds}); do kill -STOP $(pidof kube-apiserver); sleep 1; done; kill -CONT $(pidof kube-apiserver)`;
const title = "without operator and API server, nothing is refused, no tick is missed, and nothing is lost";

(nodeShell === undefined ? it.skip : it)(
  title,
  async () => {
    const sources = await countingSources("outage", 3);
    const timer = await deploy("outage-timer", ticking, { props: { timer: { intervalSeconds: 1 } } });
    made.push(...sources, timer);
    await until(async () => (await ticksOf(timer.id)).length > 2, "it ticks");
    await kubectl(["-n", namespace, "scale", "deployment/headwater-operator", "--replicas=0"]);
    await kubectl(["-n", namespace, "wait", "pods", "-l", "app.kubernetes.io/component=operator", "--for=delete", "--timeout=90s"]);
    const load = await startLoad(sources, perSecond);
    await load.more(perSecond);
    const startedAt = Date.now();
    await onNode(withoutApiServer, (seconds + 120) * 1_000);
    const endedAt = Date.now();
    await until(async () => (await tryKubectl(["get", "--raw", "/readyz"])).code === 0, "the API server is ready again");
    const stopped = await load.stop();
    await kubectl(["-n", namespace, "scale", "deployment/headwater-operator", "--replicas=2"]);
    const accepted = stopped.sources.reduce((sum, source) => sum + source.accepted.length, 0);
    report(
      `control plane gone for ${Math.round((endedAt - startedAt) / 1_000)} s: ${stopped.sent} sent, ${accepted} accepted, not accepted ${JSON.stringify(stopped.refused)}, slowest ${Math.round(stopped.slowestMs)} ms`,
    );
    expect(stopped.refused).toEqual({});
    await expectNothingLost(stopped);
    const during = (await ticksOf(timer.id)).filter((tick) => tick * 1_000 > startedAt && tick * 1_000 < endedAt);
    expect(during.length).toBeGreaterThanOrEqual(seconds - 2);
    expect(during).toEqual(during.map((_, index) => (during[0] ?? 0) + index));
    await kubectl(["-n", namespace, "rollout", "status", "deployment/headwater-operator", "--timeout=120s"]);
  },
  600_000 + seconds * 1_000,
);
