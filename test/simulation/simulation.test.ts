import { expect, it } from "vitest";
import { simulate } from "./simulate.ts";
import { sabotages } from "./sabotages.ts";

const given = process.env["HEADWATER_TEST_SEED"];
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);

it(`keeps every promise of runner and delivery under random faults (HEADWATER_TEST_SEED=${seed})`, async () => {
  for (let n = 0; n < 4; n++) {
    const { violations, faults } = await simulate({ seed: seed + n, minutes: 20 });
    expect(violations, `npm run simulate -- --seed ${seed + n}`).toEqual([]);
    expect(Object.keys(faults).length).toBeGreaterThan(3);
  }
});

it("gives the same history for the same seed", async () => {
  const histories: string[] = [];
  for (let time = 0; time < 2; time++) {
    const lines: string[] = [];
    await simulate({ seed: 7, minutes: 3, onLog: (line) => lines.push(line) });
    histories.push(lines.join("\n"));
  }
  expect(histories[0]).toBe(histories[1]);
});

it.each(Object.entries(sabotages))("finds %s", async (_name, { sabotage, finds }) => {
  const found: string[] = [];
  for (let n = 1; n <= 5 && found.length === 0; n++)
    found.push(...(await simulate({ seed: n, minutes: 10, sabotage })).violations.filter((violation) => finds.test(violation)));
  expect(found).not.toEqual([]);
});
