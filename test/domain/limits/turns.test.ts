import { expect, test } from "vitest";
import { Turns } from "../../../domain/limits/turns.ts";

/** Turns of the event loop that a test begins. */
function manualTurns(costPerTurn: number) {
  let begin = (): void => {};
  const turns = new Turns(costPerTurn, () => new Promise<void>((resolve) => (begin = resolve)));
  const done: string[] = [];
  const work = (name: string, steps: number, cost = 1) => ({
    step: () => {
      steps--;
      done.push(name);
      return cost;
    },
    get hasMore() {
      return steps > 0;
    },
  });
  const turn = async (): Promise<string> => {
    begin();
    await Promise.resolve();
    await Promise.resolve();
    return done.splice(0).join(" ");
  };
  return { turns, work, turn };
}

test("does nothing in the turn in which work is added, and no more in a turn than its cost allows", async () => {
  const { turns, work, turn } = manualTurns(3);
  turns.add(work("a", 5));
  expect([await turn(), await turn(), await turn()]).toEqual(["a a a", "a a", ""]);
});

test("gives each a step in turn, whatever waits beside it", async () => {
  const { turns, work, turn } = manualTurns(4);
  turns.add(work("a", 4));
  turns.add(work("b", 1));
  turns.add(work("c", 2));
  expect([await turn(), await turn()]).toEqual(["a b c a", "c a a"]);
});

test("ends a turn behind a step that costs more, and goes on with work that is added later", async () => {
  const { turns, work, turn } = manualTurns(4);
  const large = work("large", 2, 100);
  turns.add(large);
  turns.add(large);
  turns.add(work("a", 1));
  expect([await turn(), await turn()]).toEqual(["large", "a large"]);
  turns.add(work("b", 1));
  expect([await turn(), await turn()]).toEqual(["b", ""]);
});
