import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { batched } from "../../runner/sandbox/children/batch.ts";

function recorded() {
  const lists: (readonly number[])[] = [];
  return { lists, send: batched<number>((messages) => lists.push(messages)) };
}

test("messages that are ready together are one list, sent in the same turn", async () => {
  const { lists, send } = recorded();
  send(1);
  await Promise.resolve();
  send(2);
  void Promise.resolve().then(() => send(3));
  expect(lists).toEqual([]);
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(lists).toEqual([[1, 2, 3]]);
});

test("later messages of a turn are sent when it ends, in their order", async () => {
  const { lists, send } = recorded();
  send(1);
  process.nextTick(() => {
    send(2);
    process.nextTick(() => send(3));
  });
  await nextTurn();
  expect(lists).toEqual([[1], [2, 3]]);
  send(4);
  await nextTurn();
  expect(lists).toEqual([[1], [2, 3], [4]]);
});
