import { expect, it } from "vitest";
import { sparkline } from "../../cli/output/sparkline.ts";
import type { Metrics } from "../../client/generated/operations.ts";
import { until } from "../support/until.ts";
import { withInstallation } from "./installation.ts";

/** `hw metrics` on a running server, which records real runs. */
const headwater = withInstallation();
const code = `export default { name: "Counted", version: "0.0.1", props: { http: "$.interface.http" }, run(event) { if (event?.body?.fails) throw new Error("no"); this.$emit({}); } };`;

const numbersOf = async (...args: readonly string[]): Promise<Metrics> =>
  (await headwater.json<{ readonly data: Metrics }>("metrics", ...args)).data;

it("shows the runs of a source by step, those of several by line, and those of the owner", async () => {
  const create = async (name: string): Promise<string> => {
    const { body, text } = await headwater.call<{ readonly data: { readonly id: string } }>("POST", "/sources", {
      component_code: code,
      name,
    });
    expect(body.data, text).toBeDefined();
    return body.data.id;
  };
  const [source, other] = [await create("counted"), await create("quiet")];
  for (const fails of [false, true, false]) await headwater.call("POST", `/sources/${source}/runs`, { event: { body: { fails } } });
  await until(async () => (await numbersOf(source)).total.runs >= 3, "the runs are counted");
  const { total, step, points } = await numbersOf("counted", "--from", "1h");
  expect([step, total.errors, total.events]).toEqual(["minute", 1, 2]);
  expect(total.p95_ms).toBeGreaterThan(0);
  expect(total.wait_max_ms).toBeGreaterThanOrEqual(0);
  expect(points).toHaveLength(61);

  const lines = (await headwater.ok("metrics", "counted", "--from", "2h", "--step", "hour")).split("\n");
  expect(lines[0]).toMatch(/^FROM +RUNS +ERRORS +P50 +P95 +WAIT +ATTEMPTS +FAILED$/);
  expect(lines.find((line) => line.startsWith("TOTAL"))).toMatch(/^TOTAL +3 +1 +\d\S*ms /);
  expect(lines.join("\n")).toMatch(/█/);

  const [header, ...rows] = (await headwater.ok("metrics", source, "quiet")).trimEnd().split("\n");
  expect(header).toMatch(/^ID +OVER TIME +RUNS +ERRORS +ATTEMPTS +FAILED +P95$/);
  expect(rows.map((row) => row.split(/\s+/)[0])).toEqual([source, other]);
  expect(rows[1]).toMatch(/ 0 +0 +0 +0 +-$/);
  expect((await numbersOf()).total.runs).toBeGreaterThanOrEqual(3);
});

it("reports what it refuses", async () => {
  const { code: exitCode, stderr } = await headwater.hw("metrics", "no-such-source");
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining("no-such-source")]);
  expect((await headwater.hw("metrics", "--from", "3d", "--step", "minute")).stderr).toContain("metrics by minute are kept for 24 hours");
});

it("draws a sparkline as high as the values, of at most its width", () => {
  expect(sparkline([0, 1, 4, 8])).toBe(" ▁▄█");
  expect(sparkline([])).toBe("");
  expect(sparkline([0, 0])).toBe("  ");
  expect(
    sparkline(
      Array.from({ length: 100 }, () => 1),
      50,
    ),
  ).toBe("█".repeat(50));
});
